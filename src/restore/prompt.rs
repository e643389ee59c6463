//! The prompt of one model call: instructions, summary, conversation, and the restored constraints where they are
//! read last.

use crate::domain::{Message, Prompt, Role, ToolSpec, event::Fragment, message::tokens_of_len};

const SYSTEM: &str = include_str!("../../assets/prompts/system.md");

/// Tokens of the instructions alone, roughly.
pub const fn fixed_tokens() -> u64 {
    tokens_of_len(SYSTEM.len())
}

/// What a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    pub workspace: &'a str,
    pub summary: Option<&'a str>,
    pub messages: &'a [&'a Message],
    pub restored: &'a [Fragment],
    pub tools: &'a [ToolSpec],
}

/// The prompt. Every call of an assistant message is answered right after it, as endpoints require; what came in
/// between follows.
pub fn build(parts: Parts<'_>) -> Prompt {
    let mut system = SYSTEM.replace("{workspace}", parts.workspace);
    if let Some(summary) = parts.summary {
        system.push_str("\n\nWhat happened so far, shortened (the person's rules are restated separately):\n");
        system.push_str(summary);
    }
    let mut messages = vec![Message::new(Role::System, system)];
    for message in parts.messages {
        match message.role {
            Role::Tool => {}
            Role::System | Role::User => messages.push((*message).clone()),
            Role::Assistant => {
                messages.push((*message).clone());
                messages.extend(message.calls.iter().map(|call| answer(parts.messages, &call.id)));
            }
        }
    }
    restate(&mut messages, parts.restored);
    Prompt { messages, tools: parts.tools.to_vec() }
}

fn answer(messages: &[&Message], call: &str) -> Message {
    let found = messages.iter().find(|m| m.answers.as_deref() == Some(call));
    found.map_or_else(
        || Message {
            answers: Some(call.to_owned()),
            ..Message::new(Role::Tool, "No result: the call was interrupted before it ended.")
        },
        |m| (*m).clone(),
    )
}

/// Puts the restored constraints behind the person's latest words. Not in the system message: what stands far from
/// the end is what long contexts lose.
fn restate(messages: &mut [Message], restored: &[Fragment]) {
    if restored.is_empty() {
        return;
    }
    if let Some(user) = messages.iter_mut().rev().find(|m| m.role == Role::User) {
        user.text.push_str("\n\n[Standing rules of mine, in force now:");
        for fragment in restored {
            user.text.push_str("\n- ");
            user.text.push_str(&fragment.text);
        }
        user.text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{RawCall, RuleId, message::ModelCall};

    #[test]
    fn calls_are_answered_at_once_and_rules_come_last() {
        let mut call = Message::new(Role::Assistant, "");
        let raw = RawCall::new("fs_list", serde_json::json!({"path": "."}));
        call.calls.push(ModelCall { id: "a".into(), call: raw.clone(), malformed: None });
        call.calls.push(ModelCall { id: "b".into(), call: raw, malformed: None });
        let user = Message::new(Role::User, "look");
        let more = Message::new(Role::User, "and hurry");
        let mut result = Message::new(Role::Tool, "files");
        result.answers = Some("b".into());
        let rule =
            Fragment { rule: RuleId::said(1), text: "§1 never".into(), tokens: 3, score: 1.0, why: String::new() };
        let prompt = build(Parts {
            workspace: "/w",
            summary: Some("turn 1"),
            messages: &[&user, &call, &more, &result],
            restored: &[rule],
            tools: &[],
        });
        let roles: Vec<_> = prompt.messages.iter().map(|m| m.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User]);
        assert!(prompt.messages[3].text.contains("interrupted"));
        assert_eq!(prompt.messages[4].text, "files");
        assert!(prompt.messages[5].text.ends_with("- §1 never]"));
        assert!(prompt.messages[0].text.contains("turn 1"));
    }
}
