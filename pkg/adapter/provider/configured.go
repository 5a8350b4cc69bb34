package provider

import (
	"slices"
	"strings"
)

// Configured is the set of providers that a stack may use for live work. The zero value is empty. It does not depend on
// credentials, so functions that only list the offers need no secret.
type Configured struct{ names []string }

// ParseConfigured parses a comma-separated list of names, the format of the environment variable PROVIDERS.
func ParseConfigured(list string) Configured {
	var c Configured
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.names = append(c.names, name)
		}
	}
	return c
}

// Has reports whether the set has the provider of that name.
func (c Configured) Has(name string) bool { return slices.Contains(c.names, name) }
