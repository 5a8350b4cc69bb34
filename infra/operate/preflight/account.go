package preflight

import (
	"context"
	"errors"
)

// Account is what the checks ask of an AWS account in a region. A method returns
// ErrMissing for what does not exist, and ErrUnsupported where a local AWS lacks it.
// Takes also returns ErrDenied.
type Account interface {
	// ID returns the id of the account that the credentials are for.
	ID(ctx context.Context) (string, error)
	// Outputs returns the outputs of a stack.
	Outputs(ctx context.Context, stack string) (map[string]string, error)
	// Concurrency returns how many functions may run at a time, and how many of these
	// are not reserved.
	Concurrency(ctx context.Context) (limit, unreserved int, err error)
	// Memory returns the memory of a function, in MB.
	Memory(ctx context.Context, function string) (int, error)
	// Takes returns why AWS refuses a function of so much memory, or "". It makes one in a
	// stack of that name, and removes it. The boundary is that of its role, or empty.
	Takes(ctx context.Context, stack, boundary string, memory int) (reason string, err error)
	// Model returns why a Bedrock model cannot be called, or "".
	Model(ctx context.Context, id string) (reason string, err error)
	// Secret returns the value of a secret.
	Secret(ctx context.Context, arn string) (string, error)
	// Certificate returns the status of a certificate.
	Certificate(ctx context.Context, arn string) (string, error)
	// Pending returns the addresses that have not confirmed their subscription of a topic.
	Pending(ctx context.Context, topic string) ([]string, error)
	// LogRole returns the role by which API Gateway writes logs.
	LogRole(ctx context.Context) (string, error)
}

// Errors of an Account.
var (
	ErrMissing     = errors.New("it does not exist")
	ErrUnsupported = errors.New("this AWS does not have it")
	ErrDenied      = errors.New("the credentials may not do it")
)
