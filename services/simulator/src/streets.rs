//! A small street list of Vitoria-Gasteiz of our own making: real street names, invented portals.
//!
//! Coordinates are plausible and inside the town (`IRUÑA` aside, which is the neighbour to the west), not
//! surveyed. Two streets share a name, one portal has no number, one has a letter: the awkward cases.

/// A town with its codes.
pub(crate) struct Town {
    pub(crate) name: &'static str,
    pub(crate) code: &'static str,
}

pub(crate) static VITORIA: Town = Town { name: "Vitoria-Gasteiz", code: "01059" };
pub(crate) static IRUNA: Town = Town { name: "Iruña Oka/Iruña de Oca", code: "01901" };

/// A door. Number 0 stands for one without a number.
pub(crate) struct Portal {
    pub(crate) number: u32,
    pub(crate) extension: &'static str,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

pub(crate) struct Street {
    pub(crate) id: &'static str,
    /// Road type, in capitals.
    pub(crate) kind: &'static str,
    /// Name in capitals, the article in brackets at its end.
    pub(crate) name: &'static str,
    /// The name in the other language: found for a street, not for a door.
    pub(crate) alias: &'static str,
    pub(crate) town: &'static Town,
    pub(crate) postcode: &'static str,
    pub(crate) portals: &'static [Portal],
}

/// A place with a name.
pub(crate) struct Place {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

const fn door(number: u32, latitude: f64, longitude: f64) -> Portal {
    Portal { number, extension: "", latitude, longitude }
}

const fn street(
    id: &'static str,
    kind: &'static str,
    name: &'static str,
    alias: &'static str,
    postcode: &'static str,
    portals: &'static [Portal],
) -> Street {
    Street { id, kind, name, alias, town: &VITORIA, postcode, portals }
}

pub(crate) static STREETS: [Street; 18] = [
    street(
        "010590000011",
        "CALLE",
        "PINTORERÍA",
        "Pintore kalea",
        "01001",
        &[
            door(1, 42.847_45, -2.670_354),
            door(3, 42.847_72, -2.670_31),
            door(20, 42.848_95, -2.670_12),
            door(36, 42.850_41, -2.669_95),
        ],
    ),
    street(
        "010590000012",
        "CALLE",
        "MATEO BENIGNO DE MORAZA",
        "Mateo Benigno de Moraza kalea",
        "01001",
        &[door(1, 42.846_62, -2.671_83), door(9, 42.847_01, -2.672_46), door(15, 42.847_08, -2.671_22)],
    ),
    street(
        "010590000013",
        "PORTAL",
        "FORONDA (DE)",
        "Foronda atea",
        "01010",
        &[
            door(4, 42.854_52, -2.679_31),
            door(14, 42.856_71, -2.681_02),
            door(32, 42.860_93, -2.684_27),
            door(53, 42.865_08, -2.687_52),
            door(0, 42.867_14, -2.689_03),
        ],
    ),
    street(
        "010590000014",
        "AVENIDA",
        "GASTEIZ",
        "Gasteiz etorbidea",
        "01008",
        &[
            door(1, 42.844_12, -2.683_41),
            door(30, 42.847_55, -2.682_16),
            Portal { number: 45, extension: "A", latitude: 42.849_62, longitude: -2.681_83 },
            door(90, 42.854_81, -2.680_47),
        ],
    ),
    street(
        "010590000015",
        "CALLE",
        "DATO",
        "Eduardo Dato kalea",
        "01005",
        &[
            door(1, 42.846_02, -2.672_15),
            door(12, 42.844_93, -2.671_88),
            door(27, 42.843_87, -2.671_62),
            door(43, 42.842_96, -2.671_37),
        ],
    ),
    street(
        "010590000016",
        "PLAZA",
        "VIRGEN BLANCA (DE LA)",
        "Andre Maria Zuriaren plaza",
        "01001",
        &[door(1, 42.846_52, -2.672_95), door(3, 42.846_7, -2.672_7), door(8, 42.847_01, -2.673_02)],
    ),
    street(
        "010590000017",
        "PASEO",
        "SENDA (DE LA)",
        "Senda ibilbidea",
        "01007",
        &[door(2, 42.842_51, -2.676_93), door(11, 42.841_37, -2.679_24), door(23, 42.840_12, -2.682_05)],
    ),
    street(
        "010590000018",
        "CALLE",
        "CUCHILLERÍA",
        "Aiztogile kalea",
        "01001",
        &[door(5, 42.847_61, -2.671_31), door(24, 42.848_83, -2.671_12), door(95, 42.851_42, -2.671_64)],
    ),
    street(
        "010590000019",
        "CALLE",
        "HERRERÍA",
        "Errementari kalea",
        "01001",
        &[door(8, 42.847_83, -2.674_22), door(33, 42.849_27, -2.674_51), door(76, 42.851_08, -2.674_03)],
    ),
    street(
        "010590000020",
        "CALLE",
        "ZAPATERÍA",
        "Zapatari kalea",
        "01001",
        &[door(12, 42.848_02, -2.673_63), door(49, 42.849_51, -2.673_74), door(80, 42.850_93, -2.673_41)],
    ),
    street(
        "010590000021",
        "CALLE",
        "CORRERÍA",
        "Hedegile kalea",
        "01001",
        &[door(6, 42.847_92, -2.672_93), door(58, 42.849_73, -2.673_02), door(151, 42.851_61, -2.672_64)],
    ),
    street(
        "010590000022",
        "CALLE",
        "POSTAS",
        "Posta kalea",
        "01004",
        &[door(1, 42.846_33, -2.671_02), door(16, 42.846_12, -2.669_24), door(42, 42.845_87, -2.667_31)],
    ),
    street(
        "010590000023",
        "CALLE",
        "FLORIDA",
        "Florida kalea",
        "01005",
        &[door(2, 42.843_51, -2.673_12), door(35, 42.843_72, -2.669_43), door(84, 42.843_91, -2.665_27)],
    ),
    street(
        "010590000024",
        "CANTÓN",
        "SANTA MARÍA (DE)",
        "Santa Maria kantoia",
        "01001",
        &[door(4, 42.850_21, -2.672_83)],
    ),
    street(
        "010590000025",
        "PLAZA",
        "SANTA MARÍA (DE)",
        "Santa Maria plaza",
        "01001",
        &[door(1, 42.850_52, -2.672_21), door(4, 42.850_63, -2.672_42)],
    ),
    street(
        "010590000026",
        "PORTAL",
        "LASARTE (DE)",
        "Lasarte atea",
        "01007",
        &[door(5, 42.836_92, -2.677_13), door(60, 42.832_41, -2.681_52)],
    ),
    street(
        "010590000027",
        "CALLE",
        "HERRÁN (LOS)",
        "Herrandarren kalea",
        "01002",
        &[door(1, 42.846_93, -2.667_52), door(30, 42.850_31, -2.666_93)],
    ),
    Street {
        id: "019010000001",
        kind: "CALLE",
        name: "PARRALES (LOS)",
        alias: "Parrales kalea",
        town: &IRUNA,
        postcode: "01230",
        portals: &[door(2, 42.817_31, -2.806_22), door(10, 42.818_04, -2.808_13)],
    },
];

pub(crate) static PLACES: [Place; 3] = [
    Place { id: "NG-4501", name: "Parque de la Florida", latitude: 42.844_01, longitude: -2.675_52 },
    Place { id: "NG-4502", name: "Catedral de Santa María", latitude: 42.850_35, longitude: -2.672_4 },
    Place { id: "NG-4503", name: "Aeropuerto de Foronda", latitude: 42.882_8, longitude: -2.724_5 },
];
