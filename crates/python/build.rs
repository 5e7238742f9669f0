//! Gives the engine a fingerprint: a hash of the sources that decide what a plan's result is.
//!
//! The determinism law says that plan + engine give the same bytes; a version alone does not name the engine while it
//! is being worked on. Stores of runs keep the fingerprint beside the plan's hash, so that results of two engines never
//! mix. The hash is FNV-1a with 64 bits (draft-eastlake-fnv-20, section 2): it needs no dependency, and only has to
//! tell one working copy from another. Of each crate all sources count, tests and comments too: the price of a needless
//! new fingerprint is a run repeated, that of a missed one is a wrong table.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The crates below the Python module that make results; none of them reads anything but the plan, and a kernel's packets.
const CRATES: [&str; 7] =
    ["congestion", "estimator", "forwarder", "qdisc", "simulator", "transport", "units"];

const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn main() -> io::Result<()> {
    let mut hash = FNV_OFFSET_BASIS;
    for name in CRATES {
        let sources = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", sources.display());
        for file in files_below(&sources)? {
            let place = file.strip_prefix("..").unwrap_or(&file).to_string_lossy().replace('\\', "/");
            hash = fold(hash, place.as_bytes());
            hash = fold(hash, &[0]);
            hash = fold(hash, &fs::read(&file)?);
            hash = fold(hash, &[0]);
        }
    }
    println!("cargo::rustc-env=BUFFERLAB_ENGINE_FINGERPRINT={hash:016x}");
    Ok(())
}

/// All files in a folder and those below it, in order of their paths' text.
fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                found.push(path);
            }
        }
    }
    found.sort_by_key(|path| path.to_string_lossy().replace('\\', "/"));
    Ok(found)
}

fn fold(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME))
}
