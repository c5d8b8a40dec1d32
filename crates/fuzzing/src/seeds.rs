//! Well-formed inputs that random changes start from.

use std::collections::BTreeMap;

/// Short pieces of generated logs and write-ups of every kind: they reach more in the same time than whole ones.
pub(crate) fn logs() -> Vec<Vec<u8>> {
    const PIECE: usize = 400;
    let mut seeds = Vec::new();
    for kind in assay_samples::KINDS {
        let mut text = Vec::new();
        if assay_samples::write(kind.name, &BTreeMap::new(), 1, Some(4000), &mut text).is_ok() {
            seeds.extend(text.chunks(PIECE).take(6).map(<[u8]>::to_vec));
        }
    }
    seeds
}

pub(crate) fn documents() -> Vec<Vec<u8>> {
    texts(&[
        "# Results\n\n| model | tokens/s |\n|---|---|\n| a | 12.5 ± 0.3 |\n| b | 1,250 |\n\nA is 1.9× faster than b.\n",
        "<html><body><table><tr><th>batch</th><th>ms</th></tr><tr><td>8</td><td>1.5</td></tr></table></body></html>",
        "\\begin{tabular}{lr}\nmodel & speed \\\\ \\hline\nA & $12.5 \\pm 0.1$ \\\\\n\\end{tabular}\n",
        "{\"cells\":[{\"cell_type\":\"markdown\",\"source\":[\"| a | b |\\n\",\"|---|---|\\n\",\"| 1 | 2 |\\n\"]},\
         {\"cell_type\":\"code\",\"source\":[],\"outputs\":[{\"text\":[\"loss: 2.5\\n\"]}]}]}",
        "model,batch,tokens/s\na,8,\"1,250\"\nb,16,2500\n",
        "[{\"model\": \"a\", \"latency_ms\": 12.5, \"runs\": [1, 2, 3]}]",
        "Title\n=====\n\n=====  =====\nbatch  ms\n=====  =====\n8      1.5\n=====  =====\n",
    ])
}

pub(crate) fn campaigns() -> Vec<Vec<u8>> {
    texts(&[
        assay_campaign::EXAMPLE,
        "name = \"a\"\n[workload]\ncommand = \"echo {n}\"\n[vary]\nn = [1, 2]\n[read]\nheadline = \"speed\"\n\
         [[read.metric]]\nname = \"speed\"\nunit = \"samples/s\"\npattern = \"speed=(?<value>[0-9.]+)\"\n",
        "name = \"b\"\nworkload = \"lm\"\n[fixed]\nsize = \"tiny\"\n[vary]\nbatch_size = [1, 2]\n[repeats]\nat_least = 2\n\
         [gates]\n[report]\nacross = [\"batch_size\"]\n",
    ])
}

pub(crate) fn platforms() -> Vec<Vec<u8>> {
    texts(&[
        "name = \"p\"\ndescription = \"a machine\"\nlauncher = \"local\"\n[resources]\ncpus = 4\nmemory = \"8 GB\"\n",
    ])
}

pub(crate) fn journals() -> Vec<Vec<u8>> {
    let whole = crate::recovery::journal();
    let lines = whole.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec);
    let short = whole.get(..600).unwrap_or(&whole).to_vec();
    lines.chain([short, b"0badc0de {\"finished\":{\"run\":\"torn#torn\n\0\0\0\0".to_vec()]).collect()
}

pub(crate) fn html() -> Vec<Vec<u8>> {
    texts(&[
        " <html><body><table><tr><th>batch</th><th>latency ms</th></tr><tr><td>8</td><td>1.5</td></tr></table></body></html>",
        " <table><thead><tr><th rowspan=2>a<th colspan='3'>b</thead><tbody><tr><td>1&nbsp;234<td>&lt;5 &#955;</table>",
        " <!-- c --><style>td{}</style><script>var a = \"<table>\";</script><pre>loss: 2.5\n</pre><p>2x faster than <b>a</b>.</p>",
        " <table><tr><td><table><tr><td>1</td></tr></table></td></tr></table><br/><h2>Results",
    ])
}

pub(crate) fn latex() -> Vec<Vec<u8>> {
    texts(&[
        " \\begin{tabular}{lr}\nmodel & speed \\\\ \\hline\nA & $12.5 \\pm 0.1$ \\\\\n\\end{tabular}\n",
        " \\begin{table}\\caption{Time in \\textbf{ms}}\\begin{tabular}{@{}l|S[table-format=1.2]@{}}\\toprule a & {b} \\\\\\midrule\n\\multirow{2}{*}{x} & 1.5\\\\ \\cline{2-2} & 2\\\\\\bottomrule\\end{tabular}\\end{table}",
        " % comment \\begin{tabular}\n\\newcommand{\\x}[1]{#1\\%}\nWe are $1.9\\times$ faster \\cite{a}.\\verb|\\begin{tabular}|",
    ])
}

pub(crate) fn notebooks() -> Vec<Vec<u8>> {
    texts(&[
        " {\"cells\":[{\"cell_type\":\"markdown\",\"source\":[\"| a | ms |\\n\",\"|---|---|\\n\",\"| 1 | 2 |\\n\"]},\
         {\"cell_type\":\"code\",\"source\":\"print(1)\",\"outputs\":[{\"name\":\"stdout\",\"output_type\":\"stream\",\"text\":[\"loss: 2.5\\n\"]}]}]}",
        " {\"cells\":[{\"cell_type\":\"code\",\"source\":[],\"outputs\":[{\"output_type\":\"execute_result\",\"data\":\
         {\"text/html\":[\"<table><tr><td>1</td></tr></table>\"],\"text/plain\":\"1\"}},{\"output_type\":\"error\",\"traceback\":[\"\\u001b[31mE\"]}]}],\"nbformat\":4}",
    ])
}

pub(crate) fn streams() -> Vec<Vec<u8>> {
    texts(&[
        " data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"}}]}\n\ndata: [DONE]\n\n",
        " event: error\r\ndata: {\"error\":{\"message\":\"no\"}}\r\n\r\n: comment\rdata:a\rdata:b\r\r",
        " 5\r\ndata:\r\n1a\r\n {\"choices\":[],\"usage\":{}}\r\n0\r\n\r\n",
        " data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
    ])
}

pub(crate) fn http() -> Vec<Vec<u8>> {
    texts(&[
        "{\"choices\":[{\"message\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}",
        "{\"error\":{\"message\":\"out of memory\",\"code\":500}}",
        "{\"data\":[{\"embedding\":[0.5,1.5]}]}",
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer b\r\nx-request-id: r-7\r\ncontent-length: 67\r\n\r\n\
         {\"model\":\"m\",\"stream\":true,\"messages\":[{\"content\":\"hi #7\"}],\"n\":1}",
        "GET /metrics HTTP/1.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ])
}

pub(crate) fn counters() -> Vec<Vec<u8>> {
    texts(&["# HELP vllm:prompt_tokens_total Tokens.\n# TYPE vllm:prompt_tokens_total counter\n\
         vllm:prompt_tokens_total{model_name=\"m\"} 12.0\nprocess_cpu_seconds_total 1.5 1700000000\n"])
}

pub(crate) fn checkpoints() -> Vec<Vec<u8>> {
    texts(&[r#"{"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}"#])
}

pub(crate) fn bert_files() -> Vec<Vec<u8>> {
    texts(&[
        r#"{"hidden_size":8,"num_attention_heads":2,"id2label":{"0":"a"}}"#,
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##b\n",
        "text,label\n\"a, b\",1\n",
    ])
}

pub(crate) fn images() -> Vec<Vec<u8>> {
    vec![b"\0\0\0\x02\x01\x05".to_vec(), b"\0\0\0\x01\0\0\0\x02\0\0\0\x02\x01\x02\x03\x04".to_vec()]
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
