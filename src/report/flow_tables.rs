//! Tables of flows and of hops: one row per flow, or per class and number of hops.

use super::RunResult;
use super::columns::Kind::{Float, Integer, Text};
use super::columns::{Cell, Column, Kind, Table, columns};
use crate::measure::percentiles::{BothLatencies, FlowKey, Latencies};

const FLOWS: [(&str, Kind); 13] = [
    ("class", Text),
    ("source", Integer),
    ("destination", Integer),
    ("delivered [packets]", Integer),
    ("delivered [flits]", Integer),
    ("marked [packets]", Integer),
    ("hops_mean [channels]", Float),
    ("network_latency_mean [cycles]", Float),
    ("network_latency_max [cycles]", Integer),
    ("packet_latency_mean [cycles]", Float),
    ("packet_latency_max [cycles]", Integer),
    ("first_created [cycle]", Integer),
    ("last_delivered [cycle]", Integer),
];

const PLAN_FLOWS: [(&str, Kind); 33] = [
    ("flow", Integer),
    ("class", Text),
    ("source", Integer),
    ("destination", Integer),
    ("start [cycle]", Integer),
    ("size [flits]", Integer),
    ("created [packets]", Integer),
    ("rejected [packets]", Integer),
    ("started [packets]", Integer),
    ("delivered [packets]", Integer),
    ("delivered [flits]", Integer),
    ("received [flits]", Integer),
    ("received [fraction of link rate]", Float),
    ("tagged_delivered [packets]", Integer),
    ("network_latency_mean [cycles]", Float),
    ("network_latency_max [cycles]", Integer),
    ("packet_latency_mean [cycles]", Float),
    ("packet_latency_max [cycles]", Integer),
    ("jitter_mean [cycles]", Float),
    ("first_start [cycle]", Integer),
    ("last_delivery [cycle]", Integer),
    ("completion [cycles]", Integer),
    ("slowdown", Float),
    ("marked [packets]", Integer),
    ("answers", Integer),
    ("logged [events]", Integer),
    ("application", Text),
    ("phase", Integer),
    ("max_min_fair [fraction of link rate]", Float),
    ("attempted [packets]", Integer),
    ("dropped [packets]", Integer),
    ("last_logged [cycle]", Integer),
    ("answers_to_last_logged", Integer),
];

/// Behind the columns of flows, with percentiles.
const PERCENTILES: [(&str, Kind); 6] = [
    ("network_latency_p50 [cycles]", Integer),
    ("network_latency_p99 [cycles]", Integer),
    ("network_latency_p999 [cycles]", Integer),
    ("packet_latency_p50 [cycles]", Integer),
    ("packet_latency_p99 [cycles]", Integer),
    ("packet_latency_p999 [cycles]", Integer),
];

const HOPS: [(&str, Kind); 13] = [
    ("class", Text),
    ("hops [channels]", Integer),
    ("delivered [packets]", Integer),
    ("network_latency_mean [cycles]", Float),
    ("network_latency_p50 [cycles]", Integer),
    ("network_latency_p99 [cycles]", Integer),
    ("network_latency_p999 [cycles]", Integer),
    ("network_latency_max [cycles]", Integer),
    ("packet_latency_mean [cycles]", Float),
    ("packet_latency_p50 [cycles]", Integer),
    ("packet_latency_p99 [cycles]", Integer),
    ("packet_latency_p999 [cycles]", Integer),
    ("packet_latency_max [cycles]", Integer),
];

/// `flows.csv` of a run whose plan has flows: one row for each, by id.
pub fn plan_flows(result: &RunResult) -> Table<'_> {
    Table::new("flows.csv", flow_columns(&PLAN_FLOWS, result), |rows| {
        let measured = result.cycles.measure.max(1) as f64;
        for (id, flow) in (0u64..).zip(&result.flow_results) {
            let (sent, arrived) = (&flow.counts.sent, &flow.counts.arrived);
            let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
            let pace = result.hosts[flow.source as usize].cycles_per_flit;
            let rate = arrived.received as f64 * f64::from(pace) / measured;
            let phase = flow.phase.map(|phase| &result.app_phases[phase as usize]);
            let row = [
                id.into(),
                result.classes[usize::from(flow.class)].name.as_str().into(),
                flow.source.into(),
                flow.destination.into(),
                sent.start.into(),
                flow.flits.into(),
                sent.created.packets.into(),
                sent.rejected.packets.into(),
                sent.started.packets.into(),
                arrived.delivered.packets.into(),
                arrived.delivered.flits.into(),
                arrived.received.into(),
                rate.into(),
                arrived.tagged.into(),
                mean(arrived.network.sum, arrived.tagged).into(),
                (arrived.tagged > 0).then_some(arrived.network.most).into(),
                mean(arrived.packet.sum, arrived.tagged).into(),
                (arrived.tagged > 0).then_some(arrived.packet.most).into(),
                arrived.jitter().mean().into(),
                sent.first_start.into(),
                arrived.last_delivery.into(),
                flow.completion().into(),
                flow.slowdown().into(),
                arrived.marked.into(),
                sent.answered.into(),
                sent.logged.into(),
                phase.map(|phase| phase.application.as_str()).into(),
                phase.map(|phase| phase.number).into(),
                flow.fair.map(|fair| fair * f64::from(pace)).into(),
                sent.attempted.into(),
                flow.counts.dropped.packets.into(),
                sent.last_logged.into(),
                sent.last_logged.map(|_| sent.told_then).into(),
            ];
            let key = (flow.class, Some(id as u32), flow.source, flow.destination);
            rows.row(&[&row[..], &percentiles(result, key)].concat())?;
        }
        Ok(())
    })
}

/// `flows.csv`: one row per flow with a delivered packet.
pub fn flows(result: &RunResult) -> Table<'_> {
    Table::new("flows.csv", flow_columns(&FLOWS, result), |rows| {
        for (flow, record) in result.flows.iter().flatten() {
            let mean = |sum: u128| sum as f64 / record.packets as f64;
            let row = [
                result.classes[usize::from(flow.class)].name.as_str().into(),
                flow.source.into(),
                flow.destination.into(),
                record.packets.into(),
                record.flits.into(),
                record.marked.into(),
                mean(u128::from(record.hops)).into(),
                mean(record.network_sum).into(),
                record.network_max.into(),
                mean(record.packet_sum).into(),
                record.packet_max.into(),
                record.first_created.into(),
                record.last_delivered.into(),
            ];
            let key = (flow.class, None, flow.source, flow.destination);
            rows.row(&[&row[..], &percentiles(result, key)].concat())?;
        }
        Ok(())
    })
}

/// Columns of flows, with percentiles where they are recorded.
fn flow_columns(of_flows: &[(&'static str, Kind)], result: &RunResult) -> Vec<Column> {
    let mut all = columns(of_flows);
    if result.flow_latencies.is_some() {
        all.extend(columns(&PERCENTILES));
    }
    all
}

/// Half, 99 % and 99.9 % of the packets of a flow do not exceed these; nothing where they are not recorded.
fn percentiles(result: &RunResult, key: FlowKey) -> Vec<Cell<'static>> {
    let Some(flows) = &result.flow_latencies else {
        return Vec::new();
    };
    let of = |clock: fn(&BothLatencies) -> &Latencies| {
        let latencies = flows.get(&key).map(clock);
        [500, 990, 999].map(|per_mille| latencies.and_then(|all| all.quantile(per_mille)).into())
    };
    [of(|both| &both.network), of(|both| &both.packet)].concat()
}

/// `hops.csv`: one row per class and number of hops of a packet.
pub fn hops(result: &RunResult) -> Table<'_> {
    Table::new("hops.csv", columns(&HOPS), |rows| {
        for (&(class, hops), both) in result.hop_latencies.iter().flatten() {
            let mut row: Vec<Cell<'_>> = vec![
                result.classes[usize::from(class)].name.as_str().into(),
                u64::from(hops).into(),
                both.network.count().into(),
            ];
            for latencies in [&both.network, &both.packet] {
                row.push(latencies.mean().into());
                let quantiles = [500, 990, 999].map(|per_mille| latencies.quantile(per_mille));
                row.extend(quantiles.map(Cell::from));
                row.push(latencies.most().into());
            }
            rows.row(&row)?;
        }
        Ok(())
    })
}
