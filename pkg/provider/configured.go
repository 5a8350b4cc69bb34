package provider

import (
	"slices"
	"strings"
)

// Configured tells which providers a stack may use for live work. Its zero value
// is none of them. It says nothing about credentials: functions that only need to
// know what is offered need no secret for it.
type Configured struct{ names []string }

// ParseConfigured reads names separated by commas, as the environment variable
// PROVIDERS has them.
func ParseConfigured(list string) Configured {
	var c Configured
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.names = append(c.names, name)
		}
	}
	return c
}

// Has reports whether the provider of that name is among them.
func (c Configured) Has(name string) bool { return slices.Contains(c.names, name) }
