package webhook

// The identifiers that the tests of the whole path need.
const (
	LeaseTime = leaseTime
	KeptBody  = keptBody
)
