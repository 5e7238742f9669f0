//! The JSON Schema of scenario files, for editors and other tools.
//!
//! Texts with units are texts of any form here: the parser says what is wrong with one better than a pattern.

use serde_json::{Value as Json, json};

use crate::keys::{Part, Schemas, object_schema};
use crate::resolved::Root;

/// The schema as it is stored: indented JSON with a final line end.
pub fn schema_text() -> String {
    let text = serde_json::to_string_pretty(&schema()).expect("a schema is JSON");
    format!("{text}\n")
}

fn schema() -> Json {
    let mut parts = Schemas::new();
    let keys = Root::keys(&mut parts);
    let mut schema = object_schema(Root::DOC, &keys);
    if let Some(link) = parts.get_mut("Link") {
        without_buffer(link);
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("Bufferlab scenario");
    schema["$defs"] = json!(parts);
    schema["oneOf"] = json!([{"required": ["bottleneck"]}, {"required": ["links"]}]);
    schema
}

/// A buffer is required of all queues but SplitBuff; that of the default queue, too.
fn without_buffer(link: &mut Json) {
    if let Some(required) = link["required"].as_array_mut() {
        required.retain(|key| key != "buffer");
    }
    link["anyOf"] = json!([{"required": ["buffer"]}, {"required": ["queue"]}]);
}
