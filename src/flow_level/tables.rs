//! Tables of runs at flow level.

use super::Results;
use super::outcome::PLACES;
use crate::report::columns::Kind::{Float, Integer, Text};
use crate::report::columns::{Column, Kind, Table};

/// All tables.
pub(super) fn all<'a>(results: &'a Results<'_>) -> Vec<Table<'a>> {
    vec![
        flows(results),
        links(results),
        contention(results),
        runs(results),
        rates(results),
    ]
}

fn columns(list: &[(&'static str, Kind)]) -> Vec<Column> {
    let columns = list.iter();
    columns
        .map(|&(name, kind)| Column::new(name, kind))
        .collect()
}

/// `flows.csv`: the flows of the first run.
fn flows<'a>(results: &'a Results<'_>) -> Table<'a> {
    let columns = columns(&[
        ("flow", Integer),
        ("class", Text),
        ("application", Text),
        ("source", Integer),
        ("destination", Integer),
        ("weight", Integer),
        ("size [flits]", Integer),
        ("links", Integer),
        ("contention [flows]", Integer),
        ("rate [flits per cycle]", Float),
        ("rate [fraction of link rate]", Float),
        ("completion [cycles]", Float),
        ("phase", Integer),
        ("start [cycles]", Float),
    ]);
    let traffic = &results.scenario.scenario.traffic;
    Table::new("flows.csv", columns, move |rows| {
        for (number, flow) in results.detail.flows.iter().enumerate() {
            let application = &results.detail.applications[flow.application as usize];
            rows.row(&[
                number.into(),
                traffic[usize::from(flow.class)].name.value.as_str().into(),
                application.as_str().into(),
                flow.source.into(),
                flow.destination.into(),
                flow.weight.into(),
                flow.flits.into(),
                flow.links.into(),
                flow.contention.into(),
                flow.rate.into(),
                flow.fraction.into(),
                flow.completion.into(),
                flow.phase.into(),
                flow.start.into(),
            ])?;
        }
        Ok(())
    })
}

/// `links.csv`: the channels of the first run.
fn links<'a>(results: &'a Results<'_>) -> Table<'a> {
    let columns = columns(&[
        ("channel", Integer),
        ("from", Text),
        ("to", Text),
        ("set", Text),
        ("flows", Integer),
        ("load [fraction of its rate]", Float),
    ]);
    let graph = &results.scenario.layout.graph;
    Table::new("links.csv", columns, move |rows| {
        for (number, channel) in graph.channels().iter().enumerate() {
            let set = usize::from(results.sets.of_channel[number]);
            rows.row(&[
                number.into(),
                graph.endpoint_name(channel.from).into(),
                graph.endpoint_name(channel.to).into(),
                results.sets.names[set].as_str().into(),
                results.detail.loads[number].into(),
                results.detail.used[number].into(),
            ])?;
        }
        Ok(())
    })
}

/// Channels by the flows that they carry, all runs together, `[set][flows]`.
pub(super) fn histogram(results: &Results<'_>) -> Vec<Vec<u64>> {
    let mut sums: Vec<Vec<u64>> = vec![Vec::new(); results.sets.names.len()];
    for run in &results.runs {
        for (sum, counts) in sums.iter_mut().zip(&run.histogram) {
            if sum.len() < counts.len() {
                sum.resize(counts.len(), 0);
            }
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count;
            }
        }
    }
    sums
}

/// `contention.csv`: channels by the flows that they carry, all runs together.
fn contention<'a>(results: &'a Results<'_>) -> Table<'a> {
    let columns = columns(&[
        ("set", Text),
        ("flows", Integer),
        ("channels", Integer),
        ("probability", Float),
    ]);
    Table::new("contention.csv", columns, move |rows| {
        for (set, counts) in results.sets.names.iter().zip(histogram(results)) {
            let all: u64 = counts.iter().sum();
            for (flows, channels) in counts.into_iter().enumerate() {
                rows.row(&[
                    set.as_str().into(),
                    flows.into(),
                    channels.into(),
                    (channels as f64 / all as f64).into(),
                ])?;
            }
        }
        Ok(())
    })
}

/// `runs.csv`: one row per run.
fn runs<'a>(results: &'a Results<'_>) -> Table<'a> {
    let columns = columns(&[
        ("seed", Integer),
        ("flows", Integer),
        ("links_used", Integer),
        ("links_mean", Float),
        ("links_max", Integer),
        ("contention_max [flows]", Integer),
        ("contention_mean [flows]", Float),
        ("rate_min [fraction of link rate]", Float),
        ("rate_mean [fraction of link rate]", Float),
        ("rate_max [fraction of link rate]", Float),
        ("application_rate_min [fraction of link rate]", Float),
        ("application_rate_mean [fraction of link rate]", Float),
        ("slowdown_max", Float),
        ("completion [cycles]", Float),
        ("rounds", Integer),
    ]);
    Table::new("runs.csv", columns, move |rows| {
        for run in &results.runs {
            rows.row(&[
                run.seed.into(),
                run.flows.into(),
                run.links_used.into(),
                run.links_mean.into(),
                run.links_max.into(),
                run.contention_max.into(),
                run.contention_mean.into(),
                run.rate_min.into(),
                run.rate_mean.into(),
                run.rate_max.into(),
                run.application_rate_min.into(),
                run.application_rate_mean.into(),
                run.slowdown_max.into(),
                run.completion.into(),
                run.rounds.into(),
            ])?;
        }
        Ok(())
    })
}

/// `rates.csv`: sorted rates by their place from 0 = lowest to 1 = highest, mean over the runs.
fn rates<'a>(results: &'a Results<'_>) -> Table<'a> {
    let columns = columns(&[
        ("place", Float),
        ("rate [fraction of link rate]", Float),
        ("application_rate [fraction of link rate]", Float),
    ]);
    Table::new("rates.csv", columns, move |rows| {
        let runs = results.runs.len().max(1) as f64;
        for place in 0..PLACES {
            let flow = results.runs.iter().map(|run| run.sorted_rates[place]);
            let application = results
                .runs
                .iter()
                .map(|run| run.sorted_application_rates[place]);
            rows.row(&[
                (place as f64 / (PLACES - 1) as f64).into(),
                (flow.sum::<f64>() / runs).into(),
                (application.sum::<f64>() / runs).into(),
            ])?;
        }
        Ok(())
    })
}
