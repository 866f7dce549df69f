//! Routes of flows: channels that the packets of every flow go over, whatever tables say (D66 of the model).

use crate::ids::ChannelId;
use std::sync::Arc;

/// A route for every flow; copies share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutesOfFlows {
    /// First of every flow's channels in the list, then their number.
    first: Arc<[u32]>,
    channels: Arc<[ChannelId]>,
}

impl RoutesOfFlows {
    /// Channels of a flow (id): that of its source first, that to its destination last.
    ///
    /// # Panics
    /// When there is no such flow.
    pub fn of(&self, flow: usize) -> &[ChannelId] {
        let [first, end] = [self.first[flow], self.first[flow + 1]];
        &self.channels[first as usize..end as usize]
    }

    /// All of them, in the order of the flows.
    pub fn iter(&self) -> impl Iterator<Item = &[ChannelId]> {
        (0..self.len()).map(|flow| self.of(flow))
    }

    /// Flows over every one of `channels` channels. Cost: O(channels of all routes).
    pub fn loads(&self, channels: usize) -> Vec<u32> {
        let mut loads = vec![0; channels];
        for &channel in &*self.channels {
            loads[channel.index()] += 1;
        }
        loads
    }

    /// Number of flows.
    pub fn len(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// Whether there is no flow.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Routes in the order of the flows.
impl<R: IntoIterator<Item = ChannelId>> FromIterator<R> for RoutesOfFlows {
    fn from_iter<T: IntoIterator<Item = R>>(routes: T) -> Self {
        let (mut first, mut channels) = (vec![0], Vec::new());
        for route in routes {
            channels.extend(route);
            first.push(channels.len() as u32);
        }
        Self {
            first: first.into(),
            channels: channels.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_found_by_flow() {
        let lists = [vec![4, 2], vec![7], vec![2, 3, 1]];
        let routes: RoutesOfFlows = lists
            .iter()
            .map(|list| list.iter().map(|&channel| ChannelId(channel)))
            .collect();
        assert_eq!(routes.len(), 3);
        for (route, list) in routes.iter().zip(&lists) {
            assert!(
                route
                    .iter()
                    .map(|channel| channel.0)
                    .eq(list.iter().copied())
            );
        }
        assert_eq!(routes.of(1), [ChannelId(7)]);
        assert_eq!(routes.loads(8), [0, 1, 2, 1, 1, 0, 0, 1]);
        assert!(RoutesOfFlows::default().is_empty());
    }
}
