//! `cargo run -p bufferlab-dev -- generate-all`: writes the files that are made from declarations; with `--check` it fails
//! if one of them is not what would be written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use bufferlab_scenario::write::{fill_in, schema_text, types};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["generate-all"] => generate(false),
        ["generate-all", "--check"] => generate(true),
        _ => Err("usage: bufferlab-dev generate-all [--check]".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn generate(check: bool) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = root.join("docs/scenario.md");
    let files = [
        (root.join("docs/scenario.schema.json"), schema_text()),
        (root.join("python/bufferlab/_scenario_types.py"), types()),
        (page.clone(), fill_in(&read(&page)?)?),
    ];
    let stale: Vec<&(PathBuf, String)> =
        files.iter().filter(|(path, text)| read(path).as_ref() != Ok(text)).collect();
    for (path, text) in &stale {
        if check {
            return Err(format!("{} is not up to date: run make docs", path.display()));
        }
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
