//! The binary: arguments to exit code.

fn main() -> std::process::ExitCode {
    weal::app::main()
}
