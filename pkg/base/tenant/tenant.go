// Package tenant has the owner of data: one account, in one of its two modes. No data of one owner is visible to
// another.
package tenant

// Account is the id of an account.
type Account string

// Mode separates live data from the sandbox.
type Mode string

// The two modes.
const (
	Live Mode = "live"
	Test Mode = "test"
)

// Owner is an account in one mode. Embed it: its members are written as
// "account" and "mode".
type Owner struct {
	Account Account `json:"account"`
	Mode    Mode    `json:"mode"`
}

// Of returns the owner of an account's data in a mode.
func Of(a Account, m Mode) Owner { return Owner{a, m} }

// String returns the owner as a part of a key, such as "acc_01h…#live".
func (o Owner) String() string { return string(o.Account) + "#" + string(o.Mode) }

// Valid reports whether both members are set and the mode is one of the two.
func (o Owner) Valid() bool { return o.Account != "" && (o.Mode == Live || o.Mode == Test) }
