//! The kinds of event, and what becomes of one.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    RecognitionReceived,
    RecognitionUpdated,
    RedemptionCreated,
}

impl EventKind {
    pub const ALL: [Self; 3] = [Self::RecognitionReceived, Self::RecognitionUpdated, Self::RedemptionCreated];

    /// The name in the envelope.
    pub fn name(self) -> &'static str {
        match self {
            Self::RecognitionReceived => "recognition.received",
            Self::RecognitionUpdated => "recognition.updated",
            Self::RedemptionCreated => "redemption.created",
        }
    }

    /// The number kept in the database.
    pub fn code(self) -> i16 {
        match self {
            Self::RecognitionReceived => 1,
            Self::RecognitionUpdated => 2,
            Self::RedemptionCreated => 3,
        }
    }

    /// The kind of a stored number.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }
}

/// What has become of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventState {
    /// Waits for its next attempt.
    Pending,
    /// Confirmed by its receiver.
    Delivered,
    /// Failed for the last time; kept.
    Exhausted,
    /// Its provider had no callback URL; kept.
    Unaddressed,
}

impl EventState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Exhausted, Self::Unaddressed];

    /// The name that operators use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Unaddressed => "unaddressed",
        }
    }

    /// The number kept in the database.
    pub fn code(self) -> i16 {
        match self {
            Self::Pending => 1,
            Self::Delivered => 2,
            Self::Exhausted => 3,
            Self::Unaddressed => 4,
        }
    }

    /// The state of a stored number.
    pub fn from_code(code: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.code() == code)
    }
}
