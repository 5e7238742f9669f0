//! From a plan's word to a congestion control.

use bufferlab_congestion::{
    AnyControl, Bbr1, Bbr3, Bic, Ctcp, CtcpParameters, Cubic, CubicVersion, DCTCP_GAIN, Dctcp, Fixed, Growth,
    Htcp, Reno, RfcCubic, Scalable, Vegas, Westwood,
};

use crate::plan::{CongestionPlan, CubicPlan, GrowthPlan, TcpPlan};
use crate::streams::StreamKind;

impl TcpPlan {
    /// The congestion control of flow `flow` under a run's seed.
    pub fn control(&self, seed: u64, flow: u32) -> AnyControl {
        let (window, ssthresh) = (self.initial_window, self.initial_ssthresh);
        let stream = || StreamKind::Control.stream(seed, flow);
        match self.congestion {
            CongestionPlan::Reno { growth } => Reno::new(window, ssthresh, self::growth(growth)).into(),
            CongestionPlan::Fixed { segments } => Fixed::new(segments).into(),
            CongestionPlan::Bic { fast_convergence } => {
                let bic = Bic::new(window, ssthresh);
                if fast_convergence { bic } else { bic.alone() }.into()
            }
            CongestionPlan::Cubic { version, fast_convergence, hystart } => {
                let version = self::version(version);
                let version = if fast_convergence { version } else { version.alone() };
                let cubic = Cubic::new(window, ssthresh, version);
                if hystart { cubic.with_hystart() } else { cubic }.into()
            }
            CongestionPlan::RfcCubic { fast_convergence, hystart } => {
                RfcCubic::new(window, ssthresh, fast_convergence, hystart).into()
            }
            CongestionPlan::Ctcp => Ctcp::new(window, ssthresh, CtcpParameters::default()).into(),
            CongestionPlan::Scalable => Scalable::new(window, ssthresh).into(),
            CongestionPlan::Vegas => Vegas::new(window, ssthresh).into(),
            CongestionPlan::Westwood => Westwood::new(window, ssthresh).into(),
            CongestionPlan::Htcp => Htcp::new(window, ssthresh).into(),
            CongestionPlan::Dctcp => Dctcp::new(window, ssthresh, DCTCP_GAIN).into(),
            CongestionPlan::Bbr1 => Bbr1::new(window, stream()).into(),
            CongestionPlan::Bbr3 => Bbr3::new(window, stream()).into(),
        }
    }
}

fn growth(plan: GrowthPlan) -> Growth {
    match plan {
        GrowthPlan::PerAck => Growth::PerAck,
        GrowthPlan::PerSegment => Growth::PerSegment,
    }
}

fn version(plan: CubicPlan) -> CubicVersion {
    match plan {
        CubicPlan::Linux2624 => CubicVersion::LINUX_2_6_24,
        CubicPlan::Linux2626 => CubicVersion::LINUX_2_6_26,
        CubicPlan::Linux5 => CubicVersion::LINUX_5,
    }
}
