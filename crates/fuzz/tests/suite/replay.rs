//! The inputs in `corpus/`, and some changes of each: cut anywhere, one byte another, one part twice.

use std::fs;
use std::path::Path;

/// Changes of an input at most, of each kind.
const CHANGES: usize = 12;

/// What a fuzzer calls.
type Target = fn(&[u8]);

fn replay(folder: &str, target: Target) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(&folder).expect("the folder is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    for path in paths {
        let whole = fs::read(&path).expect("it can be read");
        target(&whole);
        for at in (0..whole.len()).step_by(whole.len().div_ceil(CHANGES).max(1)) {
            target(&whole[..at]);
            let mut other = whole.clone();
            other[at] ^= 1 << (at % 8);
            target(&other);
            let end = (at + 40).min(whole.len());
            target(&[&whole[..end], &whole[at..]].concat());
        }
    }
}

#[test]
fn scenarios() {
    replay("corpus/scenario", bufferlab_fuzz::scenario);
    replay("../../examples", bufferlab_fuzz::scenario);
}

#[test]
fn overrides() {
    replay("corpus/overrides", bufferlab_fuzz::overrides);
}

#[test]
fn plans() {
    replay("corpus/plan", bufferlab_fuzz::plan);
    replay("../simulator/tests/plans", bufferlab_fuzz::plan);
}

#[test]
fn captures() {
    replay("corpus/capture", bufferlab_fuzz::capture);
    replay("corpus/capture", bufferlab_fuzz::observation);
}
