//! What the model is told of the tools: names, words and schemas, read from `assets/tools.toml`.

use crate::domain::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const SPECS: &str = include_str!("../../assets/tools.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tool: Vec<Tool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    about: String,
    required: Vec<String>,
    parameters: BTreeMap<String, Parameter>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameter {
    r#type: String,
    about: String,
}

/// All tools, in the order of the file.
pub fn specs() -> Vec<ToolSpec> {
    let file: File = toml::from_str(SPECS).unwrap_or(File { tool: Vec::new() });
    file.tool.into_iter().map(spec).collect()
}

fn spec(tool: Tool) -> ToolSpec {
    let properties: Map<String, Value> = tool
        .parameters
        .into_iter()
        .map(|(name, p)| (name, json!({ "type": p.r#type, "description": p.about })))
        .collect();
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": tool.required,
        "additionalProperties": false,
    });
    ToolSpec { name: tool.name, description: tool.about, parameters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_reads_and_what_is_required_is_described() {
        toml::from_str::<File>(SPECS).unwrap();
        let specs = specs();
        assert_eq!(specs.len(), 10);
        for spec in specs {
            assert!(
                spec.parameters["required"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|name| { spec.parameters["properties"].get(name.as_str().unwrap()).is_some() })
            );
        }
    }
}
