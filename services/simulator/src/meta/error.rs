//! Meta's error envelope.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::json;

use crate::state::random_hex;

/// A refusal of the Graph API.
pub(crate) struct GraphError {
    status: StatusCode,
    code: i64,
    subcode: Option<i64>,
    message: String,
    details: String,
}

impl GraphError {
    pub(crate) fn with_code(code: i64, status: StatusCode, details: impl Into<String>) -> Self {
        let title = match code {
            100 => "Invalid parameter",
            190 => "Invalid OAuth access token - Cannot parse access token",
            131_008 => "Required parameter is missing",
            131_009 => "Parameter value is not valid",
            131_026 => "Message undeliverable",
            131_030 => "Recipient phone number not in allowed list",
            131_047 => "Re-engagement message",
            132_068 => "Flow is blocked",
            132_069 => "Flow is throttled",
            139_001 => "Updating attempt failed",
            139_002 => "Publishing attempt failed",
            139_003 => "Deprecating attempt failed",
            139_004 => "Deleting attempt failed",
            _ => "Something went wrong",
        };
        let message = format!("(#{code}) {title}");
        Self { status, code, subcode: None, message, details: details.into() }
    }

    fn bad(code: i64, details: impl Into<String>) -> Self {
        Self::with_code(code, StatusCode::BAD_REQUEST, details)
    }

    /// 131008: a parameter that must be there is not.
    pub(crate) fn missing(path: &str) -> Self {
        Self::bad(131_008, format!("The parameter {path} is required"))
    }

    /// 131009: a value that is out of its limits.
    pub(crate) fn invalid(details: impl Into<String>) -> Self {
        Self::bad(131_009, details)
    }

    /// 100: an unknown parameter, or one of the wrong type.
    pub(crate) fn parameter(details: impl Into<String>) -> Self {
        Self::bad(100, details)
    }

    /// 139002 and its neighbours: a form's life.
    pub(crate) fn flow(code: i64, details: impl Into<String>) -> Self {
        Self::bad(code, details)
    }

    /// What a send is refused with for its recipient or its form.
    pub(crate) fn send(code: i64, details: impl Into<String>) -> Self {
        Self::bad(code, details)
    }

    /// 100 with subcode 33: no such object, or none that this token may see.
    pub(crate) fn no_object(id: &str) -> Self {
        let details = format!(
            "Object with ID '{id}' does not exist, cannot be loaded due to missing permissions, or does \
             not support this operation"
        );
        Self { subcode: Some(33), ..Self::bad(100, details) }
    }

    /// 190: no token, or not ours.
    pub(crate) fn token() -> Self {
        Self::with_code(190, StatusCode::UNAUTHORIZED, "The access token could not be decrypted")
    }
}

impl IntoResponse for GraphError {
    fn into_response(self) -> Response {
        let mut error = json!({
            "message": self.message,
            "type": "OAuthException",
            "code": self.code,
            "error_data": {"messaging_product": "whatsapp", "details": self.details},
            "fbtrace_id": random_hex(),
        });
        if let Some(subcode) = self.subcode {
            error["error_subcode"] = json!(subcode);
        }
        (self.status, Json(json!({"error": error}))).into_response()
    }
}
