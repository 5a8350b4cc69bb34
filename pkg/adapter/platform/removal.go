package platform

import "time"

// Removal is what a webhook tells of a person who has connected accounts: that the rights of the application are
// removed, or that the person's data are to be deleted.
type Removal struct {
	// Person is the platform's id of the person for the application, as in Account.Grantor. It is empty if the webhook
	// tells of something else.
	Person string
	// At is when it happened.
	At time.Time
}

// A Remover is a platform that tells when the rights of an application are removed.
type Remover interface {
	// Removed verifies a webhook by the secret of an application. It returns ErrForged for one that does not come from
	// the platform, or is too old. It makes no calls.
	Removed(app App, h Hook, now time.Time) (Removal, error)
}

// A Forgetter is a platform that asks to delete the data of a person.
type Forgetter interface {
	Remover
	// Forgotten is Removed for the webhook that asks for a deletion.
	Forgotten(app App, h Hook, now time.Time) (Removal, error)
}

// Recent reports whether a webhook of a time is new enough to be taken. The clock of its sender may be ahead.
func Recent(at, now time.Time, most time.Duration) bool {
	const ahead = 5 * time.Minute
	age := now.Sub(at)
	return age <= most && age >= -ahead
}
