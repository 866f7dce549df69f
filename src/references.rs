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
    ZDORNOV_BIRK,
    "V. Zdornov and Y. Birk, \"Mitigating congestion in high-speed interconnects for computer clusters\", technical report, 2009"
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
    LASH,
    "T. Skeie, O. Lysne and I. Theiss, \"Layered shortest path (LASH) routing in irregular system area networks\", IPDPS 2002"
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
