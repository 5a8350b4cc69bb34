// Package topology is the table of the service's queues and Lambda functions: the trigger of each function, its size
// and its permissions. The stacks are built from it, and everything else that has to know the queues or the functions
// reads it. A new queue is a constant and an entry in Outbox, its worker an entry in Functions.
package topology

import (
	"slices"
	"time"
)

// Access is a function's access to the bucket.
type Access int

// The levels of access. Each includes the one before it: Add puts objects, Write removes them, too.
const (
	None Access = iota
	Read
	Add
	Write
)

// Use is an action of DynamoDB on the items of a table.
type Use string

// The uses. A transaction needs the uses of its writes.
const (
	Get    Use = "GetItem"
	GetAll Use = "BatchGetItem"
	List   Use = "Query"
	Put    Use = "PutItem"
	Update Use = "UpdateItem"
	Delete Use = "DeleteItem"
	Check  Use = "ConditionCheckItem" // a condition on an item in a transaction
	Scan   Use = "Scan"               // the whole table, for the erasure of an account
)

// Changes reports whether any of the uses changes items.
func Changes(uses []Use) bool {
	return slices.ContainsFunc(uses,
		func(u Use) bool { return slices.Contains([]Use{Put, Update, Delete}, u) })
}

// Trigger is the source of a function's calls.
type Trigger int

// The triggers.
const (
	// ByGateway is the gateway, with the HTTP requests of the function's area.
	ByGateway Trigger = iota
	// AsAuthorizer is the gateway, before it calls the area's function.
	AsAuthorizer
	// ByStream is the stream of the state table's changes. A stream has one function that reads it: with more readers
	// its shards are throttled if the table has a replica.
	ByStream
	// ByAuditStream is the stream of the audit table's changes.
	ByAuditStream
	// ByQueue are the queues in Consumes.
	ByQueue
	// BySchedule is a schedule with the period in Every.
	BySchedule
	// ByRotation is Secrets Manager, with each step of a rotation of the sealing secret, with the period in Every.
	ByRotation
)

// Grant is a permission of a function beyond its tables, its files and its queues.
type Grant string

// The grants. A function without one has no access to the resources that it permits.
const (
	// StoreInputs permits putting the files that callers pass to generations into the bucket.
	StoreInputs Grant = "store inputs"
	// SignUploads permits signing the uploads of callers into the bucket.
	SignUploads Grant = "sign uploads"
	// ManageKeySecrets permits reading and writing the secrets of API keys in the state table. Access to the state
	// table does not include them.
	ManageKeySecrets Grant = "manage key secrets"
	// SignPeopleIn permits reading the secret that seals sessions, and makes a function know the endpoints that people
	// sign in at.
	SignPeopleIn Grant = "sign people in"
	// CallAPI makes a function know how the API is called from inside, with the client certificate for that.
	CallAPI Grant = "call the API"
	// OfferProviders permits changing which sign-on providers people can choose.
	OfferProviders Grant = "offer providers"
	// ForgetPeople permits deleting people from the user pool.
	ForgetPeople Grant = "forget people"
	// NameIssuer makes a function know the name of the issuer of people's tokens, to tell callers of it.
	NameIssuer Grant = "name the issuer"
	// PublishEvents permits putting events on the customer's bus.
	PublishEvents Grant = "publish events"
	// ReachAddresses permits checking and calling addresses that customers set.
	ReachAddresses Grant = "reach addresses"
	// AssumeRoles permits assuming the roles that customers have made for webhooks in their own AWS accounts. The
	// function's own role has a fixed name, because customers trust it by that name.
	AssumeRoles Grant = "assume roles"
	// NameDeliverRole permits showing customers the role of the function that has AssumeRoles.
	NameDeliverRole Grant = "name deliver role"
	// SealSecrets permits sealing the secrets of customers' webhooks.
	SealSecrets Grant = "seal secrets"
	// OpenSecrets permits opening the secrets of customers' webhooks.
	OpenSecrets Grant = "open secrets"
	// CallPlatforms permits calling the platforms of social accounts: reading the applications that are registered
	// there, and sealing and opening the accounts' tokens.
	CallPlatforms Grant = "call platforms"
	// OpenClaims permits opening sealed claims, to end the calls that died.
	OpenClaims Grant = "open claims"
	// KnowProviders permits reading which providers live keys may use.
	KnowProviders Grant = "know providers"
	// CallProviders permits calling all providers.
	CallProviders Grant = "call providers"
	// CallTextModels permits calling text models, and no other provider.
	CallTextModels Grant = "call text models"
	// ModerateTexts permits moderating texts by the guardrail of the stack, if it has one.
	ModerateTexts Grant = "moderate texts"
	// ProbeAPI permits reading the secret with the address and the key by which the API is probed.
	ProbeAPI Grant = "probe the API"
	// WatchModels permits reading which models Bedrock has, and when they end.
	WatchModels Grant = "watch models"
	// RunFFmpeg adds the layer with FFmpeg and the fonts.
	RunFFmpeg Grant = "run FFmpeg"
	// DecodePictures adds the layer, whose FFmpeg decodes HEIC and AVIF.
	DecodePictures Grant = "decode pictures"
	// SignMedia permits signing with the key of the Content Credentials.
	SignMedia Grant = "sign media"
	// SignDossiers permits signing with the same key, and reading its public half.
	SignDossiers Grant = "sign dossiers"
	// ReadManifests adds the layer, which has the library of C2PA, too.
	ReadManifests Grant = "read manifests"
	// KnowMail makes a function know whether the stack sends e-mails, and by which address.
	KnowMail Grant = "know mail"
	// SendMail permits sending e-mails from that address.
	SendMail Grant = "send mail"
	// TrainModels permits training models, if the stack can train: putting samples into the bucket, and passing on the
	// role that reads them there.
	TrainModels Grant = "train models"
)

// Function is one Lambda function: its size, its trigger, and everything that it may access. Its environment and its
// permissions follow from that.
type Function struct {
	Name    string
	Trigger Trigger
	// OwnProgram reports whether the function has a program for itself. The others share one; see Program.
	OwnProgram bool
	// Memory is in MiB. CPU time grows with it.
	Memory  int
	Timeout time.Duration
	// Consumes are the queues that call the function. Batch is the largest number of messages or records of a call.
	Consumes []Queue
	Batch    int
	// Window is the time for which records or messages are collected for a batch, 0 for none. SQS needs a window for
	// batches of more than ten.
	Window time.Duration
	// ExtendsVisibility reports whether the function extends the visibility of its messages while it works on them: if
	// it dies, its messages are visible again within seconds. So a message that fails returns soon, and more often. If
	// the function dies before the first extension, its messages stay invisible for its timeout, which should therefore
	// be short.
	ExtendsVisibility bool
	// Concurrency is the largest number of batches of each of its queues that are in work at a time. So a backlog
	// leaves room for the other functions of the account.
	Concurrency int
	// ReservedConcurrency is the concurrency that the account reserves for the function, and that the function never
	// exceeds. 0 means none.
	ReservedConcurrency int
	// Storage is the size of /tmp in MiB. 0 means Lambda's default.
	Storage int
	// Every is the period of the function's schedule, or of rotations.
	Every time.Duration
	// State and Audit are the function's uses of the state table and the audit table.
	State, Audit []Use
	// CredentialsOnly restricts the function's access to the state table to API keys, their secrets and the counts of
	// calls.
	CredentialsOnly bool
	// Media is the function's access to the bucket.
	Media Access
	// Files are patterns of the keys of the objects that the function may put if Media is Add or Write, and remove if
	// it is Write. Without patterns it may put and remove all.
	Files []string
	// DecodesFiles reports whether the function reads files of callers with complex decoders. Such a function cannot
	// access the items that decide about permissions.
	DecodesFiles bool
	// Sends are the queues to which the function sends.
	Sends []Queue
	// Grants are the function's other permissions.
	Grants []Grant
}

// May reports whether the function has any of the grants.
func (f Function) May(grants ...Grant) bool {
	return slices.ContainsFunc(grants, func(g Grant) bool { return slices.Contains(f.Grants, g) })
}

// Program returns the program that runs as the function: the name of a folder under functions.
func (f Function) Program() string {
	switch {
	case f.OwnProgram:
		return f.Name
	case f.May(ReadManifests): // the only program that links the library
		return "compose"
	case f.Trigger == ByGateway:
		return "api"
	default:
		return "work"
	}
}

// Programs returns the programs of all functions.
func Programs() (all []string) {
	for _, f := range Functions {
		if p := f.Program(); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// ReadsSeal reports whether the function seals answers or cursors, or opens claims.
func (f Function) ReadsSeal() bool {
	return f.Trigger == ByGateway && f.Audit != nil || f.May(OpenClaims, SignPeopleIn)
}

// Follows reports whether the changes of the state table call the function.
func (f Function) Follows() bool { return f.Trigger == ByStream }

// FollowsAudit reports whether the changes of the audit table call the function.
func (f Function) FollowsAudit() bool { return f.Trigger == ByAuditStream }

// QueueAddresses returns the queues whose addresses the function needs to send, or to hold messages.
func (f Function) QueueAddresses() []Queue {
	all := slices.Clone(f.Sends)
	for _, q := range f.Consumes {
		if f.ExtendsVisibility && !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return all
}

// Tasks returns the queues of tasks to which the function sends.
func (f Function) Tasks() (all []Queue) {
	for _, q := range f.Sends {
		if slices.Contains(Tasks, q) {
			all = append(all, q)
		}
	}
	return all
}

// Loops reports whether the function sends to a queue that it consumes.
func (f Function) Loops() bool {
	return slices.ContainsFunc(f.Consumes, func(q Queue) bool { return slices.Contains(f.Sends, q) })
}

// FunctionNamed returns the function with the given name. It panics if there is none.
func FunctionNamed(name string) Function {
	return find(func(f Function) bool { return f.Name == name }, "named "+name)
}

// Assumer returns the function that assumes the roles of customers.
func Assumer() Function {
	return find(func(f Function) bool { return f.May(AssumeRoles) }, "that assumes the roles of customers")
}

func find(is func(Function) bool, which string) Function {
	for _, f := range Functions {
		if is(f) {
			return f
		}
	}
	panic("topology: no function " + which)
}
