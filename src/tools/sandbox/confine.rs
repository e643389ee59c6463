//! The walls: landlock for files, signals and TCP, a system call filter for every other socket, and of root's powers
//! only those that ordinary work with files needs.
//!
//! Landlock only allows. What is hidden is left out by allowing everything beside it: a directory on the way to a
//! hidden one is not allowed itself, each of its other entries is. So such a directory can be entered and not listed.

use super::Confine;
use landlock::{
    Access as _, AccessFs, AccessNet, BitFlags, Compatible as _, LandlockStatus, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::CapabilitySet;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The newest rights this program knows; older kernels enforce what they can.
const FILES: landlock::ABI = landlock::ABI::V9;
const NETWORK: landlock::ABI = landlock::ABI::V4;
const SCOPES: landlock::ABI = landlock::ABI::V6;

/// Confines the calling thread and everything it starts, for good. Returns landlock's ABI.
pub(super) fn confine(to: &Confine) -> Result<u8, String> {
    let filter = sockets(to.network)?;
    let status = ruleset(to)?.restrict_self().map_err(|e| e.to_string())?;
    let abi = match status.landlock {
        LandlockStatus::NotEnabled => return Err("landlock is not enabled in this kernel".into()),
        LandlockStatus::NotImplemented => return Err("this kernel has no landlock".into()),
        LandlockStatus::Available { effective_abi, .. } => effective_abi.to_string(),
    };
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err("landlock enforced nothing".into());
    }
    drop_powers().map_err(|e| format!("root's powers could not be dropped: {e}"))?;
    seccompiler::apply_filter(&filter).map_err(|e| e.to_string())?;
    abi.parse().map_err(|_| format!("landlock speaks of an ABI `{abi}`"))
}

/// Some capabilities (performance monitoring among them) let root look into processes that landlock keeps apart.
/// `no_new_privs` holds by now, so what is dropped does not come back with the next program.
fn drop_powers() -> rustix::io::Result<()> {
    let kept = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID
        | CapabilitySet::KILL
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID
        | CapabilitySet::SETFCAP
        | CapabilitySet::NET_BIND_SERVICE;
    let mut sets = rustix::thread::capabilities(None)?;
    sets.effective &= kept;
    sets.permitted &= kept;
    sets.inheritable = CapabilitySet::empty();
    rustix::thread::set_capabilities(None, sets)
}

fn ruleset(to: &Confine) -> Result<RulesetCreated, String> {
    let read = AccessFs::from_read(FILES);
    // No device nodes: nobody's ordinary work makes them.
    let write = AccessFs::from_all(FILES) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
    let remove = read | AccessFs::RemoveFile | AccessFs::RemoveDir;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;

    let mut rules = Ruleset::default()
        .set_compatibility(landlock::CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(FILES))
        .and_then(|r| r.scope(Scope::from_all(SCOPES)))
        .map_err(|e| e.to_string())?;
    if !to.network {
        rules = rules.handle_access(AccessNet::from_all(NETWORK)).map_err(|e| e.to_string())?;
    }
    let mut created = rules.create().map_err(|e| e.to_string())?;
    let mut hidden = to.hidden.clone();
    // Terminals, disks and other people's pseudo-terminals live here; the few plain devices are named below.
    hidden.push("/dev".into());
    created = allow(created, &around(Path::new("/"), &hidden), read)?;
    created = allow(created, &["/dev/urandom".into(), "/dev/random".into()], read)?;
    created = allow(created, &["/dev/null".into(), "/dev/zero".into(), "/dev/full".into()], device)?;
    if to.shared_memory {
        created = allow(created, &["/dev/shm".into()], write)?;
    }
    for (roots, access) in [(&to.write, write), (&to.remove, remove)] {
        for root in roots {
            created = allow(created, &around(root, &to.hidden), access)?;
        }
    }
    Ok(created)
}

fn allow(rules: RulesetCreated, paths: &[PathBuf], access: BitFlags<AccessFs>) -> Result<RulesetCreated, String> {
    // A path that is not there (any more) needs no rule.
    rules.add_rules(path_beneath_rules(paths, access)).map_err(|e| e.to_string())
}

/// `root` where nothing hidden lies below it, else whatever in it is not hidden and not on the way to it. Links are
/// left out: what they lead to is allowed, or not, where it lies.
fn around(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if !hidden.iter().any(|h| h != root && h.starts_with(root)) {
        return vec![root.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let kept = entries.flatten().filter(|e| e.file_type().is_ok_and(|t| !t.is_symlink()));
    let beside = kept.map(|e| e.path()).filter(|path| !hidden.contains(path));
    beside.flat_map(|path| around(&path, hidden)).collect()
}

/// Sockets: none without the network, and with it only the internet's. No unix socket of any kind is opened, so
/// multiplexers, agents, the session bus and container daemons are out of reach (a pair of connected ones is not
/// touched). The rings that could make the same calls unseen, and the kernel's key store, are closed too.
fn sockets(network: bool) -> Result<BpfProgram, String> {
    let other_than = |family: i32| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family.unsigned_abs().into())
    };
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let foreign: Result<Vec<_>, _> = families.into_iter().map(other_than).collect();
    let foreign = foreign.and_then(SeccompRule::new).map_err(|e| e.to_string())?;
    let socket = if network { vec![foreign] } else { Vec::new() };

    let closed = [libc::SYS_io_uring_setup, libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = closed.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_socket, socket);
    // x86-64 has every call a second time, for 32-bit pointers.
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> = rules.iter().map(|(call, rule)| (call | 0x4000_0000, rule.clone())).collect();
        rules.extend(twins);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| e.to_string())?;
    let refuse = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(|e| e.to_string())?;
    filter.try_into().map_err(|e: seccompiler::BackendError| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn everything_beside_the_hidden_is_allowed_and_nothing_on_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("share/weal/backups")).unwrap();
        fs::create_dir_all(root.join("share/other")).unwrap();
        fs::write(root.join("note"), "").unwrap();
        std::os::unix::fs::symlink(root.join("share/weal"), root.join("link")).unwrap();
        let mut got = around(root, &[root.join("share/weal")]);
        got.sort();
        assert_eq!(got, [root.join("note"), root.join("share/other")]);
        assert_eq!(around(root, &[root.to_owned()]), [root]);
        assert_eq!(around(&root.join("share"), &[]), [root.join("share")]);
    }
}
