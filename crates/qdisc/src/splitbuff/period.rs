//! What happens when a period is over: thresholds and sizes for the next one.

use bufferlab_units::{Span, Time};

use super::gaps::Split;
use super::sub_buffer::SubBuffer;
use super::{Classes, Mean, Sizes, SplitBuff};
use crate::Limit;

impl SplitBuff {
    pub(super) fn update(&mut self, now: Time) {
        if self.sums.packets > 0 {
            self.period = self.period.saturating_mul(2).min(self.config.update).max(self.period);
        }
        let period_ps = self.period.as_ps();
        let periods = now.saturating_since(self.next_update).as_ps() / period_ps + 1;
        if let Some(police) = self.police.as_deref_mut() {
            let length_s = Span::from_ps(period_ps.saturating_mul(periods)).as_s();
            police.end_period(length_s * self.rate.as_bps() as f64 / 8.0);
        }
        self.next_update = self.next_update.saturating_add(Span::from_ps(period_ps.saturating_mul(periods)));
        self.smooth_delays();
        let Classes::Rtt(information) = &self.classes else {
            return;
        };
        let has_queueing = information.has_queueing();
        let sums = std::mem::take(&mut self.sums);
        if sums.packets == 0 {
            return;
        }
        let count = sums.packets as f64;
        let (mean_s, mean_bytes) = (sums.rtt_s / count, sums.bytes as f64 / count);
        let sigma_s = (sums.squares / count - mean_s * mean_s).max(0.0).sqrt();
        let queueing_s = if has_queueing { self.delay_s } else { 0.0 };
        for part in &mut self.parts {
            part.end_period(has_queueing);
        }
        self.center_s = match self.config.mean {
            Mean::Packets => (mean_s - queueing_s).max(0.0),
            Mean::Flows => self.mean_of_flows_s(),
        };
        let most = self.parts.len();
        match self.gaps.as_mut().map(|gaps| gaps.take(most)) {
            Some(split) => self.place_in_gaps(split),
            None => self.place_at_mean(sigma_s),
        }
        // B = (mean RTT − `T_q`)·C
        let mean_s = if self.config.weighted { self.mean_over_flows_s() } else { self.center_s };
        let bytes = mean_s * self.rate.as_bps() as f64 / 8.0;
        match self.config.sizes {
            Sizes::Share => self.share(bytes, mean_bytes),
            Sizes::Own => self.size_each(mean_bytes),
        }
    }

    fn place_at_mean(&mut self, sigma_s: f64) {
        let k = self.parts.len();
        let offset = |index: usize| (index as f64 - k as f64 / 2.0) * sigma_s;
        let found = (1..k).map(|index| (self.center_s + offset(index)).max(0.0)).collect();
        self.move_thresholds(found);
        let thresholds = self.thresholds.as_deref().unwrap_or_default();
        for (index, part) in self.parts.iter_mut().enumerate() {
            let beside = thresholds.get(index.min(k.saturating_sub(2))).copied().unwrap_or(self.center_s);
            part.stand_in(beside);
        }
    }

    /// Sub-buffers without a class of their own get no packets, and no room.
    fn place_in_gaps(&mut self, split: Split) {
        let unused = std::iter::repeat(0.0);
        for (part, propagation_s) in self.parts.iter_mut().zip(split.propagations_s.into_iter().chain(unused))
        {
            part.propagation_s = propagation_s;
        }
        self.move_thresholds(split.thresholds_s);
    }

    /// A threshold that hardly changed stays, so that flows beside it do.
    fn move_thresholds(&mut self, mut found: Vec<f64>) {
        if let Some(old) = self.thresholds.as_deref().filter(|old| old.len() == found.len()) {
            for (new, &old) in found.iter_mut().zip(old) {
                if (*new - old).abs() <= self.config.hysteresis * old {
                    *new = old;
                }
            }
        }
        self.thresholds = Some(found);
    }

    /// Mean propagation delay of the flows that were served.
    fn mean_of_flows_s(&self) -> f64 {
        let flows: f64 = self.parts.iter().map(|part| part.flows).sum();
        self.parts.iter().map(|part| part.propagation_s * part.flows).sum::<f64>() / flows.max(1.0)
    }

    /// Mean of the sub-buffers' propagation delays, each counted as often as it has flows.
    fn mean_over_flows_s(&self) -> f64 {
        let flows: f64 = self.parts.iter().map(|part| part.flows).sum();
        self.parts.iter().map(SubBuffer::need_s).sum::<f64>() / flows.max(1.0)
    }

    fn smooth_delays(&mut self) {
        let (delayed_s, seen) = self
            .parts
            .iter()
            .fold((0.0, 0), |(delayed_s, seen), part| (delayed_s + part.delayed_s, seen + part.delays_seen));
        if seen > 0 {
            let alpha = if self.delay_known { self.config.smoothing } else { 1.0 };
            self.delay_s += alpha * (delayed_s / seen as f64 - self.delay_s);
            self.delay_known = true;
        }
        for part in &mut self.parts {
            part.smooth_delay(self.config.smoothing);
            part.count_flows();
        }
        if self.config.weighted {
            self.weigh();
        }
    }

    /// Equation (4): a sub-buffer's part of the whole is its propagation delay's part of their sum.
    fn share(&mut self, bytes: f64, mean_bytes: f64) {
        let by_flows = self.config.weighted;
        let need_s = |part: &SubBuffer| if by_flows { part.need_s() } else { part.propagation_s };
        let sum_s: f64 = self.parts.iter().map(need_s).sum();
        if sum_s <= 0.0 {
            return;
        }
        for part in &mut self.parts {
            let share = need_s(part) / sum_s;
            part.limit = match self.limit {
                Limit::Packets(most) => {
                    let packets = (bytes / mean_bytes.max(1.0)).min(most as f64) * share;
                    Limit::Packets((packets as u64).max(1))
                }
                Limit::Bytes(most) => {
                    let packet = f64::from(self.quantum);
                    Limit::Bytes((bytes.min(most as f64) * share).max(packet) as u64)
                }
                Limit::Unlimited => Limit::Bytes((bytes * share).max(f64::from(self.quantum)) as u64),
            };
        }
    }

    /// Each sub-buffer has its part of the link times its propagation delay, or the longest delay for which there is room.
    fn size_each(&mut self, mean_bytes: f64) {
        let by_flows = self.config.weighted;
        let weight = |part: &SubBuffer| if by_flows { part.flows.max(1.0) } else { 1.0 };
        let sum: f64 = self.parts.iter().map(weight).sum();
        let bytes_per_s = self.rate.as_bps() as f64 / 8.0;
        let most_bytes = match self.limit {
            Limit::Packets(packets) => packets as f64 * mean_bytes,
            Limit::Bytes(bytes) => bytes as f64,
            Limit::Unlimited => f64::INFINITY,
        };
        let needs: Vec<_> = self.parts.iter().map(|part| (part.propagation_s, weight(part) / sum)).collect();
        let longest_s = longest_with_room(needs, most_bytes / bytes_per_s);
        for part in &mut self.parts {
            let bytes = part.propagation_s.min(longest_s) * weight(part) / sum * bytes_per_s;
            part.limit = match self.limit {
                Limit::Packets(_) => Limit::Packets(((bytes / mean_bytes.max(1.0)) as u64).max(1)),
                _ => Limit::Bytes(bytes.max(f64::from(self.quantum)) as u64),
            };
        }
    }

    /// The quanta of the next period: at least one packet each, more for those with more flows.
    fn weigh(&mut self) {
        let counts = self.parts.iter().map(|part| part.flows).filter(|&flows| flows > 0.0);
        let fewest = counts.fold(f64::INFINITY, f64::min);
        for part in &mut self.parts {
            if part.flows > 0.0 {
                part.weight = part.flows / fewest;
            }
        }
    }
}

/// The longest delay, s, such that delays up to it, each times its weight, sum to `room_s` (max-min fairness).
fn longest_with_room(mut needs: Vec<(f64, f64)>, room_s: f64) -> f64 {
    needs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut left_s, mut weights) = (room_s, needs.iter().map(|(_, weight)| weight).sum::<f64>());
    for (need_s, weight) in needs {
        if need_s * weights > left_s {
            return left_s / weights;
        }
        left_s -= need_s * weight;
        weights -= weight;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::longest_with_room;

    #[test]
    fn the_longest_give_way() {
        let needs = || vec![(600.0, 0.05), (0.02, 0.95)];
        assert_eq!(longest_with_room(needs(), 100.0), f64::INFINITY);
        // 19 ms for the short, the rest for the long one, which has a twentieth
        assert!((longest_with_room(needs(), 0.04) - 0.42).abs() < 1e-12);
        assert!((longest_with_room(needs(), 0.01) - 0.01).abs() < 1e-12);
    }
}
