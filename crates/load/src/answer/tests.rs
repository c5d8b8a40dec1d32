use super::*;
use crate::sse;

/// An answer made of events, one millisecond apart.
fn streamed(events: &[&str]) -> Exchange {
    let mut answer = PartialAnswer::new(true);
    for (index, event) in events.iter().enumerate() {
        let text = format!("data: {event}\n\n");
        sse::scan(text.as_bytes(), true, |event| answer.event(&event, (index as i64 + 1) * 1_000_000));
    }
    let mut exchange = Exchange::default();
    answer.finish(&mut exchange, true);
    exchange
}

fn whole(text: &str) -> Exchange {
    let (mut answer, mut exchange) = (PartialAnswer::new(true), Exchange::default());
    answer.whole(text.as_bytes(), 5_000_000);
    answer.finish(&mut exchange, true);
    exchange
}

fn kinds(exchange: &Exchange) -> Vec<ChunkKind> {
    exchange.chunks.iter().map(|chunk| chunk.kind).collect()
}

#[test]
fn the_role_is_no_token_and_reasoning_is_no_output() {
    let exchange = streamed(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
        r#"{"choices":[{"delta":{"content":"yes\n"}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"completion_tokens_details":{"reasoning_tokens":1}}}"#,
        "[DONE]",
    ]);
    use ChunkKind::{Content, Other, Reasoning, Role, Usage as Counts};
    assert_eq!(kinds(&exchange), [Role, Reasoning, Content, Other, Counts, Other]);
    assert_eq!((exchange.first_token_at_s, exchange.first_output_at_s), (Some(0.002), Some(0.003)));
    assert_eq!(exchange.last_token_at_s, Some(0.003));
    assert_eq!(
        exchange.usage,
        Some(Usage { prompt: Some(3), output: Some(2), reasoning: Some(1), cached: None })
    );
    assert_eq!((exchange.finish.as_deref(), exchange.answer.as_deref()), (Some("stop"), Some("yes\n")));
    assert_eq!(exchange.fault, None);
}

#[test]
fn tool_calls_and_completions_are_tokens() {
    let call = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\""}}]}}]}"#;
    let exchange = streamed(&[call, r#"{"choices":[{"text":" word","finish_reason":null}]}"#]);
    assert_eq!(kinds(&exchange), [ChunkKind::ToolCall, ChunkKind::Content]);
    assert_eq!(exchange.chunks[0].bytes, 5);
    assert_eq!(exchange.first_output_at_s, Some(0.001));
}

#[test]
fn counts_with_every_chunk_tell_the_tokens_of_each() {
    let event = |count: u32| {
        format!(r#"{{"choices":[{{"delta":{{"content":"x"}}}}],"usage":{{"completion_tokens":{count}}}}}"#)
    };
    let exchange = streamed(&[&event(4), &event(9)]);
    assert_eq!(exchange.chunks.iter().map(|chunk| chunk.tokens).collect::<Vec<_>>(), [Some(4), Some(5)]);
}

#[test]
fn errors_inside_a_stream_are_faults() {
    let exchange = streamed(&[r#"{"error":{"message":"out of memory","code":500}}"#]);
    let fault = exchange.fault.unwrap();
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::ErrorEvent, "out of memory"));
    assert_eq!(streamed(&["{broken"]).fault.unwrap().kind, FaultKind::Malformed);
    assert_eq!(streamed(&[r#"{"error":null,"choices":[]}"#]).fault, None);
}

#[test]
fn events_that_come_together_are_counted_as_merged() {
    let mut answer = PartialAnswer::new(false);
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n".repeat(3) + "data: [DONE]\n\n";
    sse::scan(text.as_bytes(), true, |event| answer.event(&event, 7));
    let mut exchange = Exchange::default();
    assert!(answer.is_complete());
    answer.finish(&mut exchange, false);
    assert_eq!((exchange.merged_stamps, exchange.chunks.len(), exchange.chunks[0].events), (2, 2, 3));
}

#[test]
fn whole_answers_have_no_first_token() {
    let exchange =
        whole(r#"{"choices":[{"message":{"role":"assistant","content":"A"},"finish_reason":"length"}]}"#);
    assert_eq!((exchange.answer.as_deref(), exchange.finish.as_deref()), (Some("A"), Some("length")));
    assert_eq!((exchange.first_token_at_s, exchange.fault), (None, None));
    assert_eq!(whole(r#"{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":2}}"#).fault, None);
    assert_eq!(whole("<html>").fault.unwrap().kind, FaultKind::Malformed);
    assert_eq!(whole("{}").fault.unwrap().kind, FaultKind::Malformed);
}

#[test]
fn servers_tell_their_own_times() {
    let exchange = whole(
        r#"{"choices":[{"message":{"content":null}}],
            "timings":{"prompt_n":5,"cache_n":2,"prompt_ms":10.0,"predicted_n":7,"predicted_ms":70.0,"predicted_per_second":100.0}}"#,
    );
    assert_eq!(exchange.usage.unwrap().prompt, Some(7));
    assert_eq!(exchange.server.unwrap().output_s, Some(0.07));
    let exchange =
        whole(r#"{"choices":[{}],"usage":{"completion_tokens":2,"queue_time":0.5,"total_latency":1.5}}"#);
    let times = exchange.server.unwrap();
    assert_eq!((times.queue_s, times.total_s), (Some(0.5), Some(1.5)));
}

#[test]
fn refusals_quote_the_server() {
    let refused = |text: &str| {
        let (mut answer, mut exchange) = (PartialAnswer::new(false), Exchange::default());
        answer.refused(FaultKind::NotFound, 404, text.as_bytes(), None);
        answer.finish(&mut exchange, false);
        exchange.fault.unwrap().message
    };
    assert_eq!(refused(r#"{"error":{"message":"no such model"}}"#), "status 404: no such model");
    assert_eq!(refused(r#"{"detail":[{"msg":"field required"}]}"#), "status 404: field required");
    assert_eq!(refused("gone\n<b>"), "status 404: gone <b>");
    assert_eq!(refused(""), "status 404");
}

#[test]
fn a_broken_character_is_replaced_alone() {
    let mut answer = PartialAnswer::new(true);
    let text = b"data: {\"choices\":[{\"delta\":{\"content\":\"\xe2\x82\"}}]}\n\n";
    sse::scan(text, true, |event| answer.event(&event, 1));
    let mut exchange = Exchange::default();
    answer.finish(&mut exchange, true);
    assert_eq!((exchange.answer.as_deref(), exchange.fault), (Some("\u{fffd}"), None));
}

#[test]
fn the_short_way_finds_the_same_as_the_long_one() {
    let event =
        |kind: &str, text: &str| format!(r#"{{"id":"a","choices":[{{"delta":{{"{kind}":"{text}"}}}}]}}"#);
    let texts = ["one", "two", r"a\nb", r#"\"q\""#, "é€😀", "", "end"];
    let events: Vec<String> =
        ["reasoning", "content"].iter().flat_map(|kind| texts.map(|text| event(kind, text))).collect();
    let all = streamed(&events.iter().map(String::as_str).collect::<Vec<_>>());
    let apart: Vec<Exchange> = events.iter().map(|event| streamed(&[event])).collect();
    let plain = |chunk: &Chunk| (chunk.kind, chunk.bytes, chunk.events, chunk.tokens);
    assert!(all.chunks.iter().map(plain).eq(apart.iter().flat_map(|one| one.chunks.iter().map(plain))));
    assert_eq!(all.answer.as_deref(), Some("onetwoa\nb\"q\"é€😀end"));
    assert_eq!((all.first_token_at_s, all.first_output_at_s), (Some(0.001), Some(0.008)));
}

/// Sums of such numbers would be no numbers any more.
#[test]
fn counts_that_no_request_can_have_are_unknown() {
    let most = u64::MAX;
    let exchange = streamed(&[
        r#"{"choices":[{"delta":{"content":"a"}}]}"#,
        &format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":{most},"completion_tokens":7,"prompt_tokens_details":{{"cached_tokens":{most}}}}}}}"#
        ),
        "[DONE]",
    ]);
    assert_eq!(exchange.usage, Some(Usage { prompt: None, output: Some(7), reasoning: None, cached: None }));
}
