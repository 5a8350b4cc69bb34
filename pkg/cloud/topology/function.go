// Package topology is the table of the service's queues and Lambda functions: what
// calls each function, how large it is and what it may touch. The stacks are built
// from it, and everything else that has to know the queues or the functions reads it.
// A new queue is a constant and an entry in Outbox, its worker an entry in Functions.
package topology

import (
	"slices"
	"time"
)

// Access is what a function may do with the bucket.
type Access int

// The levels of access. Write includes Read.
const (
	None Access = iota
	Read
	Write
)

// Use is what a function does with the items of a table: an action of DynamoDB.
type Use string

// The uses. A transaction is the uses that it is made of.
const (
	Get       Use = "GetItem"
	GetAll    Use = "BatchGetItem"
	List      Use = "Query"
	Put       Use = "PutItem"
	Update    Use = "UpdateItem"
	UpdateAll Use = "PartiQLUpdate" // updates of many items in one round trip
	Delete    Use = "DeleteItem"
	Check     Use = "ConditionCheckItem" // in transactions: that an item is unchanged
)

// Changes reports whether any of the uses changes items.
func Changes(uses []Use) bool {
	return slices.ContainsFunc(uses, func(u Use) bool { return slices.Contains([]Use{Put, Update, UpdateAll, Delete}, u) })
}

// Trigger is what calls a function.
type Trigger int

// The triggers.
const (
	// ByGateway: the HTTP requests of the function's area.
	ByGateway Trigger = iota
	// AsAuthorizer: the gateway, before it calls the area's function.
	AsAuthorizer
	// ByStream: the changes of the state table. A stream has one function that reads it:
	// with more readers its shards are throttled where the table has a replica.
	ByStream
	// ByAuditStream: the changes of the audit table.
	ByAuditStream
	// ByQueue: the messages of the queues in Consumes.
	ByQueue
	// BySchedule: a schedule with the period in Every.
	BySchedule
	// ByRotation: Secrets Manager, each step of a rotation of the sealing secret, with
	// the period in Every.
	ByRotation
)

// Function is one Lambda function: how large it is, what calls it, and all that
// it may touch. Its environment and its permissions follow from that.
type Function struct {
	// Name is the folder under functions that holds its main package.
	Name    string
	Trigger Trigger
	// Memory is in MiB; CPU time grows with it.
	Memory  int
	Timeout time.Duration
	// Consumes are the queues that call it; Batch is how many messages or records at most.
	Consumes []Queue
	Batch    int
	// Window is how long records or messages are collected for a batch; 0: not at all. SQS
	// needs one for batches of more than ten.
	Window time.Duration
	// Holds marks the functions that extend the visibility of their messages while they
	// work on them: if one dies, its messages are visible again within seconds. So what
	// fails returns soon, and more often. If it dies before the first extension, they
	// stay invisible for its time-out, which is short where it can be.
	Holds bool
	// Concurrency is how many batches of each of its queues are in work at a time at most:
	// a backlog leaves room for the other functions of the account.
	Concurrency int
	// Reserved is the concurrency that the account keeps free for the function, and that
	// it never exceeds; 0: none.
	Reserved int
	// Storage is the size of /tmp in MiB; 0: what Lambda has by default.
	Storage int
	// Every is the period of its schedule, or of rotations.
	Every time.Duration
	// State and Audit are what it does with the state table and the audit table.
	State, Audit []Use
	// Media is the bucket.
	Media Access
	// Files are patterns of the keys of the objects that it puts and removes, where it may
	// write; none: all.
	Files []string
	// Decodes marks the functions that read files of callers by complex decoders. They reach
	// no item that decides who may do what.
	Decodes bool
	// Keeps lets it put the files that callers give to work into the bucket.
	Keeps bool
	// Uploads lets it sign the uploads of callers into the bucket.
	Uploads bool
	// Issues lets it read and write the secrets of API keys, which no function can
	// otherwise.
	Issues bool
	// Counts restricts its access to the state table to API keys, their secrets and the
	// counts of calls.
	Counts bool
	// Sends are the queues that it sends to.
	Sends []Queue
	// Publishes lets it put events on the customer's bus.
	Publishes bool
	// Webhooks marks the functions that check or call a customer's addresses.
	Webhooks bool
	// Assumes lets it assume the roles that customers have made for webhooks into
	// their own AWS accounts. Its own role then has a name of its own, which stays:
	// customers trust it.
	Assumes bool
	// Seals lets it seal secrets of customers, and Unseals open them. No other function
	// can do either.
	Seals, Unseals bool
	// Connects marks the functions that call the platforms of social accounts: they read the
	// applications that are registered there, and seal and open the accounts' tokens. No
	// other function can.
	Connects bool
	// Settles lets it read what claims are sealed with: it ends the calls that died.
	Settles bool
	// Introduces lets it name the role of the function that assumes.
	Introduces bool
	// Offers marks the functions that need to know which providers live keys may use,
	// and Generates those that call them.
	Offers, Generates bool
	// Writes marks the functions that call text models and no other provider.
	Writes bool
	// Probes lets it read the secret with the address and the key that it calls the API by.
	Probes bool
	// Composes adds the layer with ffmpeg and the fonts.
	Composes bool
	// Trains lets it train models, where the stack can: it puts samples into the bucket, and
	// passes the role that reads them there.
	Trains bool
}

// Follows reports whether the changes of the state table call the function.
func (f Function) Follows() bool { return f.Trigger == ByStream }

// FollowsAudit reports whether the changes of the audit table call the function.
func (f Function) FollowsAudit() bool { return f.Trigger == ByAuditStream }

// Knows returns the queues whose addresses it needs: to send, or to hold messages.
func (f Function) Knows() []Queue {
	all := slices.Clone(f.Sends)
	for _, q := range f.Consumes {
		if f.Holds && !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	return all
}

// Tasks returns the queues of tasks among those that it sends to.
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

// Named returns the function of a name. It panics if there is none.
func Named(name string) Function {
	return find(func(f Function) bool { return f.Name == name }, "named "+name)
}

// Assumer returns the function that assumes the roles of customers.
func Assumer() Function {
	return find(func(f Function) bool { return f.Assumes }, "that assumes the roles of customers")
}

func find(is func(Function) bool, which string) Function {
	for _, f := range Functions {
		if is(f) {
			return f
		}
	}
	panic("topology: no function " + which)
}
