package stack

import "slices"

// Access is what a function may do with a table or the bucket.
type Access int

// The levels of access; each includes the ones before it but Append, which is
// writing without reading.
const (
	None Access = iota
	Append
	Read
	Write
)

// Trigger is what calls a function.
type Trigger int

// The triggers.
const (
	// Gateway calls the function for the HTTP requests of its area.
	Gateway Trigger = iota
	// Authorizer is called by the gateway before the area's function.
	Authorizer
	// Stream calls the function with the changes of the state table.
	Stream
	// Queue calls the function with the messages of the queues named in Consumes.
	Queue
	// Schedule calls the function regularly, as often as Every says.
	Schedule
)

// The queues, each named for its work.
const (
	GenerateTextQueue  = "generate-text"
	GenerateImageQueue = "generate-image"
	GenerateAudioQueue = "generate-audio"
	GenerateVideoQueue = "generate-video"
	DispatchQueue      = "dispatch"
	DeliverQueue       = "deliver"
	DeliverSlowQueue   = "deliver-slow"
)

// generateQueues are the queues of generation: one for each kind of work, so that
// what takes long does not hold back what is quick.
var generateQueues = []string{GenerateTextQueue, GenerateImageQueue, GenerateAudioQueue, GenerateVideoQueue}

// Function is one Lambda function: how large it is, what calls it, and all that
// it may touch. Its environment and its permissions follow from that.
type Function struct {
	// Name is the folder under functions that holds its main package.
	Name    string
	Trigger Trigger
	// Memory is in MiB; CPU time grows with it.
	Memory int
	// Timeout is in seconds.
	Timeout int
	// Consumes are the queues that call it; Batch is how many messages or records at most.
	Consumes []string
	Batch    int
	// Holds marks the functions that show while they work on messages that they live:
	// one that dies leaves them hidden for seconds. So what fails comes again soon,
	// and more often. One that dies before it has shown that it lives leaves them
	// hidden for its time-out, which is short where it can be.
	Holds bool
	// Concurrency is how many batches of its queues are worked on at a time at most; 0:
	// as many as the account permits.
	Concurrency int
	// Every is after how many minutes its schedule calls it again.
	Every int
	// State, Audit and Media are the state table, the audit table and the bucket.
	State, Audit, Media Access
	// Sends are the queues that it sends to.
	Sends []string
	// Publishes lets it put events on the customer's bus.
	Publishes bool
	// Webhooks marks the functions that check or call a customer's addresses.
	Webhooks bool
	// Assumes lets it assume the roles that customers have made for webhooks into
	// their own AWS accounts. Its own role then has a name of its own, which stays:
	// customers trust it.
	Assumes bool
	// Introduces lets it tell the role of the function that assumes.
	Introduces bool
	// Offers marks the functions that need to know which providers live keys may use,
	// and Generates those that call them.
	Offers, Generates bool
}

// Functions are all the functions of the service.
var Functions = []Function{
	{Name: "authorizer", Trigger: Authorizer, Memory: 512, Timeout: 5, State: Write},

	{Name: "account", Trigger: Gateway, Memory: 512, Timeout: 15, State: Read, Audit: Write, Media: Read},
	{Name: "apikey", Trigger: Gateway, Memory: 512, Timeout: 15, State: Write, Audit: Append},
	{Name: "catalog", Trigger: Gateway, Memory: 512, Timeout: 15, Audit: Append, Offers: true},
	{Name: "factory", Trigger: Gateway, Memory: 512, Timeout: 15, State: Write, Audit: Append},
	{Name: "content", Trigger: Gateway, Memory: 512, Timeout: 15, State: Write, Audit: Append, Media: Read, Offers: true},
	{Name: "studio", Trigger: Gateway, Memory: 512, Timeout: 15, State: Write, Audit: Append, Media: Read, Webhooks: true, Offers: true},
	{Name: "webhook", Trigger: Gateway, Memory: 512, Timeout: 15, State: Write, Audit: Append, Webhooks: true, Introduces: true},
	{Name: "docs", Trigger: Gateway, Memory: 256, Timeout: 10},

	{Name: "relay", Trigger: Stream, Memory: 512, Timeout: 60, Batch: 100, Sends: append([]string{DeliverQueue, DispatchQueue}, generateQueues...), Publishes: true},
	{Name: "generate", Trigger: Queue, Memory: 1024, Timeout: 120, Consumes: generateQueues, Batch: 5,
		State: Write, Media: Write, Sends: generateQueues, Holds: true, Offers: true, Generates: true},
	{Name: "dispatch", Trigger: Queue, Memory: 512, Timeout: 5, Consumes: []string{DispatchQueue}, Batch: 10, Holds: true,
		State: Write, Sends: []string{DeliverQueue, DispatchQueue}},
	// An attempt takes up to 15 seconds.
	{Name: "deliver", Trigger: Queue, Memory: 512, Timeout: 20, Consumes: []string{DeliverQueue}, Batch: 10, Holds: true, Concurrency: 50,
		State: Write, Media: Read, Sends: []string{DeliverQueue, DeliverSlowQueue}, Webhooks: true, Assumes: true},
	{Name: "deliver-slow", Trigger: Queue, Memory: 512, Timeout: 20, Consumes: []string{DeliverSlowQueue}, Batch: 10, Holds: true, Concurrency: 50,
		State: Write, Media: Read, Sends: []string{DeliverSlowQueue}, Webhooks: true},
	// It ends before it is called again.
	{Name: "sweep", Trigger: Schedule, Memory: 512, Timeout: 240, Every: 5, State: Write, Sends: []string{DeliverQueue}},
	{Name: "resume", Trigger: Schedule, Memory: 256, Timeout: 240, Every: 5, State: Read, Sends: generateQueues},
}

// assumer is the function that assumes the roles of customers.
func assumer() Function {
	for _, f := range Functions {
		if f.Assumes {
			return f
		}
	}
	panic("stack: no function assumes the roles of customers")
}

// consumer is the function that a queue calls.
func consumer(queue string) Function {
	for _, f := range Functions {
		if slices.Contains(f.Consumes, queue) {
			return f
		}
	}
	panic("stack: no function consumes the queue " + queue)
}
