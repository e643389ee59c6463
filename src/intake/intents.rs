//! What a request is about: labels for `intent_is`, by cues that are data in `assets/intents.toml`.

use super::statements::{Intent, Lexicon, sentences};
use crate::domain::Verb;

/// Labels of `request`, in the order of the data. Deterministic; none is a valid answer.
pub fn classify(request: &str, lexicon: &Lexicon) -> Vec<String> {
    let sentences = sentences(request, lexicon);
    let mut labels = Vec::new();
    for Intent { label, say, .. } in &lexicon.intents {
        let found = sentences.iter().any(|sentence| {
            let word = |at: usize| sentence.tokens.get(at).map(|t| t.norm.as_str());
            let at_any = |at: usize| say.iter().any(|p| p.longest(&word, at).is_some());
            (sentence.lead..sentence.tokens.len()).any(at_any)
        });
        if found {
            labels.push(label.clone());
        }
    }
    labels
}

/// Effects that requests with this label usually end in.
pub fn effects_of<'a>(label: &str, lexicon: &'a Lexicon) -> &'a [Verb] {
    let intent = lexicon.intents.iter().find(|i| i.label == label);
    intent.map_or(&[], |i| i.leads_to.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_labels() {
        let lexicon = Lexicon::english();
        for (request, labels) in [
            ("Free up some disk space, please.", vec!["cleanup", "operations"]),
            ("Export the customers table to CSV.", vec!["database_export", "data_analysis"]),
            ("Deploy the new build to staging", vec!["deploy"]),
            ("Rename the config struct", vec!["refactor"]),
            ("Reply to Anna's mail", vec!["email"]),
            ("Move my dentist appointment to Friday", vec!["calendar"]),
            ("Pay the electricity invoice", vec!["payment"]),
            ("hm", vec![]),
        ] {
            assert_eq!(classify(request, &lexicon), labels, "{request}");
        }
    }
}
