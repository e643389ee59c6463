//! The binary: arguments to exit code.

use std::process::ExitCode;
use weal::tools::sandbox;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == sandbox::CHILD) {
        return sandbox::child_main(args.next().as_deref());
    }
    ExitCode::SUCCESS
}
