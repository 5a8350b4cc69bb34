package registry

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// redacted replaces a secret wherever it is printed.
const redacted = "[redacted]"

// Secret is a credential. It does not reveal itself when it is printed, logged or encoded: only Reveal returns it.
type Secret struct{ value string }

var (
	_ fmt.Formatter  = Secret{}
	_ slog.LogValuer = Secret{}
	_ json.Marshaler = Secret{}
)

// NewSecret makes a secret of its text.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the credential itself. It must only be sent to its provider.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no credential.
func (s Secret) IsZero() bool { return s.value == "" }

// String implements fmt.Stringer.
func (Secret) String() string { return redacted }

// Format implements fmt.Formatter, for all verbs.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON implements json.Marshaler.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(redacted) }

// MarshalText implements encoding.TextMarshaler, for other encodings and for keys of maps.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
