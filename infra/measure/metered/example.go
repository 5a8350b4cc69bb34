package metered

import "context"

// Example is a call of an operation that succeeds each time.
type Example struct {
	// ID returns the id of the resource in the path. If the call uses the resource up, ID creates it.
	ID func(context.Context) (string, error)
	// Part is the id of a part of the resource, if the path names one.
	Part *string
	Body any
	// Make returns the body, if the call needs new resources for it.
	Make func(context.Context) (Object, error)
	// Query holds the parameters of the query.
	Query map[string]string
	// Live reports whether the call needs a live key, because the sandbox has nothing of the kind.
	Live bool
	// Undo is the operation that removes the created resource, if the number of such resources, or of those that
	// wait for their end, is limited.
	Undo string
}

// Object is a JSON object.
type Object map[string]any
