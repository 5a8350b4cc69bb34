package platform

import "context"

// LookupKind is the kind of what options of posts name by its id.
type LookupKind string

// These are the kinds of what options name by ids.
const (
	LookupLocation     LookupKind = "location"
	LookupMember       LookupKind = "member"
	LookupOrganization LookupKind = "organization"
	LookupPlaylist     LookupKind = "playlist"
	LookupBoard        LookupKind = "board"
)

// Lookup is something that a platform finds.
type Lookup struct {
	Kind LookupKind
	// Searches reports whether the platform finds it by a text. Otherwise it lists all.
	Searches bool
	// Units are what a call uses of the platform's bound of readings (Reads), or 0.
	Units int
}

// Found is what a lookup has found. Its texts are those of the platform.
type Found struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Detail string `json:"detail,omitempty"` // such as the address of a place
}

// Finder is a platform whose Capabilities have Lookups.
type Finder interface {
	// Lookup finds what has a name. The text is empty for a kind that is listed. The error is of any kind except
	// Unknown and Restart.
	Lookup(ctx context.Context, a Account, kind LookupKind, text string) ([]Found, error)
}

// FindsBy returns the lookup of a kind, and reports whether the platform has it.
func (c Capabilities) FindsBy(kind LookupKind) (Lookup, bool) {
	for _, l := range c.Lookups {
		if l.Kind == kind {
			return l, true
		}
	}
	return Lookup{}, false
}
