package main

import (
	"errors"

	contentautomation "github.com/content-automation/api/clients/go"
)

// wrongKey is the error of a key that is none of the service.
type wrongKey struct{ error }

// statusOf returns the exit status of an error, by its type.
func statusOf(err error) int {
	var api *contentautomation.Error
	var failed *contentautomation.FailedError
	switch {
	case errors.As(err, &failed):
		return 9
	case errors.As(err, &wrongKey{}):
		return 3
	case errors.As(err, &heldError{}):
		return 5
	case contentautomation.IsTimeout(err):
		return 1
	case !errors.As(err, &api):
		return 1
	}
	status, known := map[contentautomation.ErrorType]int{"authentication_error": 3, "permission_error": 3,
		"invalid_request_error": 4, "conflict_error": 5, "rate_limit_error": 6, "payment_error": 7, "api_error": 8}[api.Type]
	if !known {
		return 1
	}
	return status
}

// statuses describes the exit statuses.
const statuses = "The exit status is 0 after success, 1 after a failure without an answer, 2 if the command line " +
	"is wrong, 3 if the key is wrong or may not, 4 if the request is refused, 5 after a conflict, 6 over a limit, 7 if the balance " +
	"does not suffice, 8 after a failure of the service, 9 if the work has failed, and 130 after Ctrl-C. Ctrl-C is how listen " +
	"and logs tail end: their status is then 0."
