package deliver

// What the tests of the whole path need to know.
const (
	LeaseTime = leaseTime
	WakePage  = wakePage
	KeptBody  = keptBody
)
