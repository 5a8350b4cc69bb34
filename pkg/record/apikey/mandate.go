package apikey

import (
	"strconv"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/record/resource"
)

// Mandate is the mandate of a key as callers see it.
type Mandate struct {
	// Id of the mandate: that of the key, and the version of the key that has set it. The audit log names it.
	ID string `json:"id" example:"key_01h455vb4pex5vsknk084sn02q:3"`
	// Credits that the key may spend on a day (UTC), with the keys that it has created. Null: no limit of a day.
	CreditsADay *int64 `json:"credits_a_day"`
	// Platforms that it may publish to. Null: all.
	Platforms []string `json:"platforms" nullable:"true"`
	// Hours of each day in which nothing of it is published. Work that spends is permitted. Null: none.
	QuietHours *auth.QuietHours `json:"quiet_hours"`
	// Acts that only people do. publish: schedule, publish and approve content. spend: spend credits. delete: delete,
	// disconnect and empty the sandbox. invite: open the account to others by an address, a secret, a right or a copy.
	NeedsPerson []auth.Act `json:"needs_person" nullable:"false"`
	// Time from which on the key does nothing any more. Null: none.
	Until *resource.Time `json:"until"`
}

// MandateID returns the id of a mandate that a version of a key sets.
func MandateID(keyID string, version int64) string {
	return keyID + ":" + strconv.FormatInt(version, 10)
}

// Terms returns the mandate as it is checked, or nil for nil.
func (m *Mandate) Terms() *auth.Mandate {
	if m == nil {
		return nil
	}
	t := &auth.Mandate{ID: m.ID, CreditsADay: m.CreditsADay, Platforms: m.Platforms, QuietHours: m.QuietHours,
		NeedsPerson: m.NeedsPerson}
	if m.Until != nil {
		t.Until = &m.Until.Time
	}
	return t
}

// Limits returns the limits of the key that count for the keys that it has made.
func (r *Record) Limits() auth.KeyLimit {
	return auth.KeyLimit{Key: r.ID, Limit: r.SpendLimit, Mandate: r.Mandate.Terms()}
}
