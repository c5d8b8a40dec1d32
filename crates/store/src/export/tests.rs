use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use assay_model::{Entry, Series, Status, Unit};
use tempfile::TempDir;

use super::*;
use crate::Record;
use crate::sample::*;

fn exported(entries: &[Entry], table: ExportTable, format: ExportFormat) -> Vec<u8> {
    let directory: TempDir = tempfile::tempdir().unwrap();
    append_all(directory.path(), &[&[record()], entries].concat());
    let mut out = Vec::new();
    export(&Record::open(directory.path()).unwrap().index().unwrap(), table, format, &mut out).unwrap();
    out
}

fn usual() -> Vec<Entry> {
    let (first, second) = (run(1, 1, 1), run(2, 1, 1));
    vec![
        plan(&[1, 2], &[]),
        finished(&first, Status::Succeeded, 8.0),
        finished(&second, exit(1), 0.1),
        launching(&run(3, 1, 1)),
    ]
}

#[test]
fn csv_has_a_header_and_empty_fields_for_what_is_missing() {
    let text = String::from_utf8(exported(&usual(), ExportTable::Runs, ExportFormat::Csv)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "run,cell,point,platform,workload,repeat,attempt,status,reason,started_at,wall_s,user_s,system_s,\
         peak_resident_bytes,peak_group_bytes,stdout_bytes,stderr_bytes,directory,current,planned,\
         setting.batch,setting.fused,setting.rate,setting.shape,metric.duration.wall,metric.rate.train"
    );
    assert_eq!(
        lines[1],
        "0000000000000001@local/r1,0000000000000001@local,0000000000000001,local,lm,1,1,succeeded,,11.25,\
         0.30000000000000004,1.5,0.25,1099511627776,,12,0,runs/0000000000000001@local/r1,true,true,\
         8,false,0.1,\"1, \"\"wide\"\"\",0.3,8.0"
    );
    assert!(lines[3].ends_with(",1,1,open,,10.5,,,,,,,,runs/0000000000000003@local/r1,true,false,,,,,,"));
    assert_eq!(lines.len(), 4);
}

#[test]
fn json_lines_say_null() {
    let text =
        String::from_utf8(exported(&usual(), ExportTable::Observations, ExportFormat::JsonLines)).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(
        rows[2],
        serde_json::json!({"run": "0000000000000001@local/r1", "metric": "duration.wall", "value": 0.3, "unit": "s",
            "scope": null, "origin": "measured", "file": null, "line": null, "counts": true})
    );
    assert_eq!(rows[0]["counts"], serde_json::json!(false));
}

fn parquet_rows(bytes: Vec<u8>) -> Vec<Vec<Field>> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect()).collect()
}

#[test]
fn parquet_reads_back_as_written() {
    let rows = parquet_rows(exported(&usual(), ExportTable::Runs, ExportFormat::Parquet));
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0][0], Field::Str("0000000000000001@local/r1".into()));
    assert_eq!(rows[0][10], Field::Double(0.1 + 0.2));
    assert_eq!(
        rows[0][18..],
        [
            Field::Bool(true),
            Field::Bool(true),
            Field::Long(8),
            Field::Bool(false),
            Field::Double(0.1),
            Field::Str("1, \"wide\"".into()),
            Field::Double(0.3),
            Field::Double(8.0),
        ]
    );
    assert_eq!(rows[2][9..13], [Field::Double(10.5), Field::Null, Field::Null, Field::Null]);
}

#[test]
fn long_series_keep_every_bit_in_every_format() {
    let values: Vec<f64> = (0..150_000_u64)
        .map(|step| f64::from_bits(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .map(|value| if value.is_finite() { value } else { 0.5 })
        .collect();
    let mut entry = finished(&run(1, 1, 1), Status::Succeeded, 1.0);
    let Entry::Finished { result, .. } = &mut entry else { panic!() };
    result.series = vec![Series {
        metric: "loss".into(),
        unit: Unit::One,
        seen: 150_000,
        values: values.clone(),
        ..Series::default()
    }];
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let entries = [entry];

    let rows = parquet_rows(exported(&entries, ExportTable::Series, ExportFormat::Parquet));
    let found =
        rows.iter().map(|row| if let Field::Double(value) = row[4] { value } else { panic!() }).collect();
    assert_eq!(bits(found), bits(values.clone()));
    assert_eq!(rows[149_999][3], Field::Long(150_000));

    let text = String::from_utf8(exported(&entries, ExportTable::Series, ExportFormat::Csv)).unwrap();
    let found = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(bits(found), bits(values.clone()));

    let text = String::from_utf8(exported(&entries, ExportTable::Series, ExportFormat::JsonLines)).unwrap();
    let value =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["value"].as_f64().unwrap();
    assert_eq!(bits(text.lines().map(value).collect()), bits(values));
}

#[test]
fn an_empty_record_exports_as_an_empty_table() {
    for table in ExportTable::ALL {
        assert!(parquet_rows(exported(&[], table, ExportFormat::Parquet)).is_empty());
        assert_eq!(exported(&[], table, ExportFormat::Csv).iter().filter(|byte| **byte == b'\n').count(), 1);
        assert!(exported(&[], table, ExportFormat::JsonLines).is_empty());
    }
}

struct FullDisk;

impl Write for FullDisk {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    append_all(directory.path(), &[&[record()], usual().as_slice()].concat());
    let index = Record::open(directory.path()).unwrap().index().unwrap();
    for format in ExportFormat::ALL {
        let error = export(&index, ExportTable::Runs, format, &mut FullDisk).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot export runs as {}: no storage space", format.name()));
    }
}
