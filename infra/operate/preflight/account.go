package preflight

import (
	"context"
	"errors"
	"github.com/content-automation/api/pkg/adapter/provider"
)

// Account is the part of an AWS account in a region that the checks read. A method returns
// ErrMissing for a resource that does not exist, and ErrUnsupported if a local AWS lacks
// it. Takes also returns ErrDenied.
type Account interface {
	// ID returns the id of the account of the credentials.
	ID(ctx context.Context) (string, error)
	// Outputs returns the outputs of a stack.
	Outputs(ctx context.Context, stack string) (map[string]string, error)
	// Concurrency returns the number of functions that may run at a time, and the part of it
	// that is not reserved.
	Concurrency(ctx context.Context) (limit, unreserved int, err error)
	// Memory returns the memory of a function, in MB.
	Memory(ctx context.Context, function string) (int, error)
	// Takes returns the reason why AWS refuses a function with the memory, or "". It makes such
	// a function in a stack with the name, and removes it. The boundary of the function's role
	// may be empty.
	Takes(ctx context.Context, stack, boundary string, memory int) (reason string, err error)
	// Model returns the reason why a Bedrock model cannot be called, or "".
	Model(ctx context.Context, id string) (reason string, err error)
	// Lives returns the lives of the models that Bedrock has, by their ids.
	Lives(ctx context.Context) (map[string]provider.Life, error)
	// Quotas returns the quotas of a service, by its code in Service Quotas, such as bedrock.
	Quotas(ctx context.Context, service string) ([]Quota, error)
	// Secret returns the value of a secret.
	Secret(ctx context.Context, arn string) (string, error)
	// Certificate returns the status of a certificate.
	Certificate(ctx context.Context, arn string) (string, error)
	// Pending returns the addresses that have not confirmed their subscription to a topic.
	Pending(ctx context.Context, topic string) ([]string, error)
	// Sends reports whether Amazon SES has verified a domain, and whether the account may send to any address.
	Sends(ctx context.Context, domain string) (verified, production bool, err error)
	// Trails reports whether a trail of CloudTrail that is on logs the region.
	Trails(ctx context.Context) (bool, error)
	// LogRole returns the role by which API Gateway writes logs.
	LogRole(ctx context.Context) (string, error)
}

// Errors of the methods of Account.
var (
	ErrMissing     = errors.New("it does not exist")
	ErrUnsupported = errors.New("this AWS does not have it")
	ErrDenied      = errors.New("the credentials may not do it")
)
