//! The sources this program implements: papers and standards, one item each.
//!
//! Documentation links to these items, so a misspelt citation fails the documentation build.

/// A cited work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Authors, title, venue and year.
    pub citation: &'static str,
}

macro_rules! reference {
    ($name:ident, $citation:literal) => {
        #[doc = $citation]
        pub const $name: Reference = Reference {
            citation: $citation,
        };
    };
}

reference!(
    XOSHIRO,
    "D. Blackman and S. Vigna, \"Scrambled linear pseudorandom number generators\", ACM Transactions on Mathematical Software 47(4), 2021"
);
reference!(
    IBA,
    "InfiniBand Trade Association, \"InfiniBand Architecture Specification, Volume 1\""
);
reference!(
    DALLY_TOWLES,
    "W. J. Dally and B. Towles, \"Principles and Practices of Interconnection Networks\", Morgan Kaufmann, 2004"
);
reference!(
    DALLY_SEITZ,
    "W. J. Dally and C. L. Seitz, \"Deadlock-free message routing in multiprocessor interconnection networks\", IEEE Transactions on Computers C-36(5), 1987"
);
reference!(
    KERMANI_KLEINROCK,
    "P. Kermani and L. Kleinrock, \"Virtual cut-through: a new computer communication switching technique\", Computer Networks 3(4), 1979"
);
reference!(
    KAROL_HLUCHYJ_MORGAN,
    "M. J. Karol, M. G. Hluchyj and S. P. Morgan, \"Input versus output queueing on a space-division packet switch\", IEEE Transactions on Communications 35(12), 1987"
);
reference!(
    PETRINI_VANNESCHI,
    "F. Petrini and M. Vanneschi, \"k-ary n-trees: high performance networks for massively parallel architectures\", IPPS 1997"
);
reference!(
    AUTONET,
    "M. D. Schroeder et al., \"Autonet: a high-speed, self-configuring local area network using point-to-point links\", IEEE Journal on Selected Areas in Communications 9(8), 1991"
);
reference!(
    BERTSEKAS_GALLAGER,
    "D. Bertsekas and R. Gallager, \"Data Networks\", 2nd edition, Prentice Hall, 1992"
);
reference!(
    ZDORNOV_BIRK,
    "V. Zdornov and Y. Birk, \"Mitigating congestion in high-speed interconnects for computer clusters\", technical report, 2009"
);
reference!(
    GOAL_SCHEDULES,
    "T. Hoefler, C. Siebert and A. Lumsdaine, \"Group operation assembly language: a flexible way to express collective communication\", ICPP 2009"
);
reference!(
    LOG_GOP_SIM,
    "T. Hoefler, T. Schneider and A. Lumsdaine, \"LogGOPSim: simulating large-scale applications in the LogGOPS model\", HPDC workshops (LSAP) 2010"
);
reference!(
    VIRTUAL_CLOCK,
    "L. Zhang, \"VirtualClock: a new traffic control algorithm for packet-switched networks\", ACM Transactions on Computer Systems 9(2), 1991"
);
reference!(
    ISLIP,
    "N. McKeown, \"The iSLIP scheduling algorithm for input-queued switches\", IEEE/ACM Transactions on Networking 7(2), 1999"
);
reference!(
    DUATO_YALAMANCHILI_NI,
    "J. Duato, S. Yalamanchili and L. Ni, \"Interconnection Networks: An Engineering Approach\", Morgan Kaufmann, 2003"
);
reference!(
    PFISTER_NORTON,
    "G. F. Pfister and V. A. Norton, \"'Hot spot' contention and combining in multistage interconnection networks\", IEEE Transactions on Computers C-34(10), 1985"
);
reference!(
    LAW_KELTON,
    "A. M. Law and W. D. Kelton, \"Simulation Modeling and Analysis\", McGraw-Hill, 2000"
);
reference!(
    LAW_CARSON,
    "A. M. Law and J. S. Carson, \"A sequential procedure for determining the length of a steady-state simulation\", Operations Research 27(5), 1979"
);
reference!(
    MSER,
    "K. P. White, \"An effective truncation heuristic for bias reduction in simulation output\", Simulation 69(6), 1997, and with batches of five: K. P. White, M. J. Cobb and S. C. Spratt, Winter Simulation Conference 2000"
);
reference!(
    LEISERSON,
    "C. E. Leiserson, \"Fat-trees: universal networks for hardware-efficient supercomputing\", IEEE Transactions on Computers C-34(10), 1985"
);
reference!(
    OEHRING,
    "S. R. Öhring, M. Ibel, S. K. Das and M. J. Kumar, \"On generalized fat trees\", IPPS 1995"
);
reference!(
    ZAHAVI,
    "E. Zahavi, \"Fat-tree routing and node ordering providing contention free traffic for MPI global collectives\", Journal of Parallel and Distributed Computing 72(11), 2012"
);
reference!(
    CLOS,
    "C. Clos, \"A study of non-blocking switching networks\", Bell System Technical Journal 32(2), 1953"
);
reference!(
    BENES,
    "V. E. Beneš, \"Mathematical Theory of Connecting Networks and Telephone Traffic\", Academic Press, 1965"
);
reference!(
    KIM_DRAGONFLY,
    "J. Kim, W. J. Dally, S. Scott and D. Abts, \"Technology-driven, highly-scalable dragonfly topology\", ISCA 2008"
);
reference!(
    FUENTES_CONTENTION,
    "P. Fuentes, E. Vallejo, M. García, R. Beivide, G. Rodríguez, C. Minkenberg and M. Valero, \"Contention-based nonminimal adaptive routing in high-radix networks\", IPDPS 2015"
);
reference!(
    CAMARERO,
    "C. Camarero, E. Vallejo and R. Beivide, \"Topological characterization of Hamming and dragonfly networks and its implications on routing\", ACM Transactions on Architecture and Code Optimization 11(4), 2014"
);
reference!(
    AHN_HYPERX,
    "J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S. Schreiber, \"HyperX: topology, routing, and packaging of efficient large-scale networks\", SC 2009"
);
reference!(
    KAUTZ,
    "W. H. Kautz, \"Bounds on directed (d, k) graphs\", Theory of Cellular Logic Networks and Machines, AFCRL-68-0668, 1968"
);
reference!(
    HOFFMAN_SINGLETON,
    "A. J. Hoffman and R. R. Singleton, \"On Moore graphs with diameters 2 and 3\", IBM Journal of Research and Development 4(5), 1960"
);
reference!(
    MATSUMOTO_NISHIMURA,
    "M. Matsumoto and T. Nishimura, \"Mersenne twister: a 623-dimensionally equidistributed uniform pseudo-random number generator\", ACM Transactions on Modeling and Computer Simulation 8(1), 1998"
);
reference!(
    GRAPHML,
    "U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt and M. S. Marshall, \"GraphML progress report: structural layer proposal\", Graph Drawing 2001"
);
reference!(
    FIDUCCIA_MATTHEYSES,
    "C. M. Fiduccia and R. M. Mattheyses, \"A linear-time heuristic for improving network partitions\", DAC 1982"
);
reference!(
    SULLIVAN_BASHKOW,
    "H. Sullivan and T. R. Bashkow, \"A large scale, homogeneous, fully distributed parallel machine\", ISCA 1977"
);
reference!(
    BOLBOL,
    "R. M. Bolbol, \"Congestion management in interconnection networks\", MSc thesis, Islamic University of Gaza, 2012"
);
reference!(
    PATH_BALANCING,
    "J. Flich, P. Lopez, M. P. Malumbres and J. Duato, \"Improving the performance of regular networks with source routing\", and their path balancing algorithm at ISHPC, 2000"
);
reference!(
    SANCHO_ROBLES_DUATO,
    "J. C. Sancho, A. Robles and J. Duato, \"A new methodology to compute deadlock-free routing tables for irregular networks\", CANPC 2000"
);
reference!(
    LYSNE_SKEIE,
    "O. Lysne and T. Skeie, \"Load balancing of irregular system area networks through multiple roots\", CIC 2001"
);
reference!(
    TBTP,
    "F. De Pellegrini, D. Starobinski, M. G. Karpovsky and L. B. Levitin, \"Scalable cycle-breaking algorithms for gigabit Ethernet backbones\", INFOCOM 2004"
);
reference!(
    REINEMO,
    "S.-A. Reinemo, \"Quality of Service in Interconnection Networks\", dissertation, University of Oslo, 2007"
);
reference!(
    SEM_JACOBSEN,
    "F. O. Sem-Jacobsen, \"Quality of Service in Virtual Cut-through Networks\", thesis, University of Oslo, 2004"
);
reference!(
    CETINKAYA_KNIGHTLY,
    "C. Cetinkaya and E. W. Knightly, \"Egress admission control\", IEEE INFOCOM 2000"
);
reference!(
    RSVP,
    "R. Braden, L. Zhang, S. Berson, S. Herzog and S. Jamin, \"Resource ReSerVation Protocol (RSVP), version 1: functional specification\", RFC 2205, 1997"
);
reference!(
    BIANCHI,
    "G. Bianchi, F. Borgonovo, A. Capone, L. Fratta and C. Petrioli, \"Endpoint admission control with delay variation measurements for QoS in IP networks\", ACM SIGCOMM Computer Communication Review 32(2), 2002"
);
reference!(
    SEGMENT_ROUTING,
    "A. Mejia, J. Flich, J. Duato, S.-A. Reinemo and T. Skeie, \"Segment-based routing: an efficient fault-tolerant routing algorithm for meshes and tori\", IPDPS 2006"
);
reference!(
    LASH,
    "T. Skeie, O. Lysne and I. Theiss, \"Layered shortest path (LASH) routing in irregular system area networks\", IPDPS workshop on communication architecture for clusters, 2002"
);
reference!(
    PEARCE_KELLY,
    "D. J. Pearce and P. H. J. Kelly, \"A dynamic topological sort algorithm for directed acyclic graphs\", ACM Journal of Experimental Algorithmics 11, 2006"
);
reference!(
    SSSP,
    "T. Hoefler, T. Schneider and A. Lumsdaine, \"Optimized routing for large-scale InfiniBand networks\", HOTI 2009"
);
reference!(
    DFSSSP,
    "J. Domke, T. Hoefler and W. E. Nagel, \"Deadlock-free oblivious routing for arbitrary topologies\", IPDPS 2011"
);
reference!(
    ZAHAVI_FAT_TREE,
    "E. Zahavi, G. Johnson, D. J. Kerbyson and M. Lang, \"Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns\", Concurrency and Computation: Practice and Experience 22(2), 2010"
);
reference!(
    DUATO,
    "J. Duato, \"A necessary and sufficient condition for deadlock-free routing in cut-through and store-and-forward networks\", IEEE Transactions on Parallel and Distributed Systems 7(8), 1996"
);
reference!(
    VALIANT,
    "L. G. Valiant and G. J. Brebner, \"Universal schemes for parallel communication\", STOC 1981"
);
reference!(
    GOAL,
    "A. Singh, W. J. Dally, A. K. Gupta and B. Towles, \"GOAL: a load-balanced adaptive routing algorithm for torus networks\", ISCA 2003"
);
reference!(
    CQR,
    "A. Singh, W. J. Dally, A. K. Gupta and B. Towles, \"Adaptive channel queue routing on k-ary n-cubes\", SPAA 2004"
);
reference!(
    SINGH_UGAL,
    "A. Singh, \"Load-balanced routing in interconnection networks\", PhD thesis, Stanford University, 2005"
);
reference!(
    BOOKSIM,
    "N. Jiang et al., \"A detailed and flexible cycle-accurate network-on-chip simulator\", ISPASS 2013"
);
reference!(
    MERLIN_SCHWEITZER,
    "P. M. Merlin and P. J. Schweitzer, \"Deadlock avoidance in store-and-forward networks - I: store-and-forward deadlock\", IEEE Transactions on Communications 28(3), 1980"
);
reference!(
    ROMM,
    "T. Nesson and S. L. Johnsson, \"ROMM routing on mesh and torus networks\", SPAA 1995"
);
reference!(
    O1TURN,
    "D. Seo, A. Ali, W.-T. Lim, N. Rafique and M. Thottethodi, \"Near-optimal worst-case throughput routing for two-dimensional mesh networks\", ISCA 2005"
);
reference!(
    CHIEN_KIM,
    "A. A. Chien and J. H. Kim, \"Planar-adaptive routing: low-cost adaptive networks for multiprocessors\", ISCA 1992"
);
reference!(
    BALFOUR_DALLY,
    "J. Balfour and W. J. Dally, \"Design tradeoffs for tiled CMP on-chip networks\", ICS 2006"
);
reference!(
    GRAN_HARDWARE,
    "E. G. Gran, M. Eimot, S.-A. Reinemo, T. Skeie, O. Lysne, L. P. Huse and G. Shainer, \"First experiences with congestion control in InfiniBand hardware\", IPDPS 2010"
);
reference!(
    PFISTER_CONTROL,
    "G. Pfister, M. Gusat, W. Denzel et al., \"Solving hot spot contention using InfiniBand Architecture congestion control\", HPI-DC 2005"
);
reference!(
    ZHU_DCQCN,
    "Y. Zhu et al., \"Congestion control for large-scale RDMA deployments\", SIGCOMM 2015"
);
reference!(
    LI_HPCC,
    "Y. Li et al., \"HPCC: high precision congestion control\", SIGCOMM 2019"
);
reference!(
    ALIZADEH_QCN,
    "M. Alizadeh et al., \"Data center transport mechanisms: congestion control theory and IEEE standardization\", Allerton Conference 2008"
);
reference!(
    KUMAR_SWIFT,
    "G. Kumar et al., \"Swift: delay is simple and effective for congestion control in the datacenter\", SIGCOMM 2020"
);
reference!(
    MITTAL_TIMELY,
    "R. Mittal et al., \"TIMELY: RTT-based congestion control for the datacenter\", SIGCOMM 2015"
);
reference!(
    JACOBSON,
    "V. Jacobson, \"Congestion avoidance and control\", SIGCOMM 1988"
);
reference!(
    CHIU_JAIN,
    "D.-M. Chiu and R. Jain, \"Analysis of the increase and decrease algorithms for congestion avoidance in computer networks\", Computer Networks and ISDN Systems 17(1), 1989"
);
reference!(
    BAYDAL,
    "E. Baydal, P. López and J. Duato, \"A family of mechanisms for congestion control in wormhole networks\", IEEE Transactions on Parallel and Distributed Systems 16(9), 2005"
);
reference!(
    DEVROYE,
    "L. Devroye, \"Non-Uniform Random Variate Generation\", Springer, 1986"
);
reference!(
    ASMUSSEN,
    "S. Asmussen, \"Applied Probability and Queues\", 2nd edition, Springer, 2003"
);
reference!(
    ROBERT_NORMAL,
    "C. P. Robert, \"Simulation of truncated normal variables\", Statistics and Computing 5(2), 1995"
);
reference!(
    BOX_MULLER,
    "G. E. P. Box and M. E. Muller, \"A note on the generation of random normal deviates\", Annals of Mathematical Statistics 29(2), 1958"
);
reference!(
    WILLINGER_TAQQU,
    "W. Willinger, M. S. Taqqu, R. Sherman and D. V. Wilson, \"Self-similarity through high-variability: statistical analysis of Ethernet LAN traffic at the source level\", IEEE/ACM Transactions on Networking 5(1), 1997"
);
reference!(
    TAQQU_PROOF,
    "M. S. Taqqu, W. Willinger and R. Sherman, \"Proof of a fundamental result in self-similar traffic modeling\", Computer Communication Review 27(2), 1997"
);
reference!(
    TAQQU_ESTIMATORS,
    "M. S. Taqqu, V. Teverovsky and W. Willinger, \"Estimators for long-range dependence: an empirical study\", Fractals 3(4), 1995"
);
reference!(
    MANDELBROT_WALLIS,
    "B. B. Mandelbrot and J. R. Wallis, \"Robustness of the rescaled range R/S in the measurement of noncyclic long run statistical dependence\", Water Resources Research 5(5), 1969"
);
reference!(
    ANIS_LLOYD,
    "A. A. Anis and E. H. Lloyd, \"The expected value of the adjusted rescaled Hurst range of independent normal summands\", Biometrika 63(1), 1976"
);
reference!(
    WERON,
    "R. Weron, \"Estimating long-range dependence: finite sample properties and confidence intervals\", Physica A 312, 2002"
);
reference!(
    DAVIES_HARTE,
    "R. B. Davies and D. S. Harte, \"Tests for Hurst effect\", Biometrika 74(1), 1987"
);
reference!(
    EFRON,
    "B. Efron, \"The Jackknife, the Bootstrap and Other Resampling Plans\", SIAM, 1982"
);
