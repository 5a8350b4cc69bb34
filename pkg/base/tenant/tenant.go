// Package tenant has the owner of data: one account, in one of its two modes. No data of one owner is visible to
// another. Start with Owner.
package tenant

import "strings"

// Account is the id of an account.
type Account string

// Mode separates live data from the sandbox.
type Mode string

// The two modes.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// Owner is an account in one mode. Embed it: its members are written as "account", "mode" and "profile".
type Owner struct {
	Account Account `json:"account"`
	Mode    Mode    `json:"mode"`
	// Profile is the part of the owner's data that belongs to a client. It is empty for the rest.
	Profile Profile `json:"profile,omitempty"`
}

// Of returns the owner of an account's data in a mode.
func Of(a Account, m Mode) Owner { return Owner{Account: a, Mode: m} }

// Of returns the owner of a profile's data. An empty profile is that of the account as a whole.
func (o Owner) Of(p Profile) Owner { o.Profile = p; return o }

// Same reports whether both are the same account in the same mode, whatever their profiles.
func (o Owner) Same(other Owner) bool { return o.Account == other.Account && o.Mode == other.Mode }

// Sees reports whether data of another owner is the owner's: an owner without a profile has those of all profiles.
func (o Owner) Sees(other Owner) bool {
	return o.Same(other) && (o.Profile == "" || o.Profile == other.Profile)
}

// String returns the account and mode as a part of a key, such as "acc_01h…#live". It leaves the profile out, so that
// one partition lists all profiles.
func (o Owner) String() string { return string(o.Account) + "#" + string(o.Mode) }

// Compare orders owners by account and mode.
func (o Owner) Compare(other Owner) int { return strings.Compare(o.String(), other.String()) }

// Valid reports whether both members are set and the mode is one of the two.
func (o Owner) Valid() bool { return o.Account != "" && (o.Mode == Live || o.Mode == Test) }

// Uses reports whether a resource of the owner may use data of another owner: that of its own profile, and that of the
// account as a whole.
func (o Owner) Uses(other Owner) bool {
	return o.Same(other) && (other.Profile == "" || other.Profile == o.Profile)
}

// In returns the owner of the data of a profile, which may be nil.
func (o Owner) In(p *Profile) Owner {
	if p == nil {
		return o.Of("")
	}
	return o.Of(*p)
}

// ProfileID returns the id of the owner's profile, or nil if there is none.
func (o Owner) ProfileID() *Profile {
	if o.Profile == "" {
		return nil
	}
	return &o.Profile
}
