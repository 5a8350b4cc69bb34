package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Form asks a text model for a JSON object of a form other than that of a post.
type Form struct {
	System string          // the system prompt, which describes the object
	Tokens int             // the most that the object takes
	Sample json.RawMessage // the object that the sandbox answers with
}

// Ask has a text model fill in the form of a request and returns the JSON object. The model writes its members: the
// caller must validate them. The sandbox answers at once, whatever delay is rehearsed. Errors are those of Submit, and
// Transient with the code text_unreadable if the answer has no JSON object.
func Ask(ctx context.Context, p Provider, req Request) (json.RawMessage, error) {
	if req.Form == nil {
		return nil, errors.New("provider: a request without a form was asked")
	}
	ctx, cancel := context.WithTimeout(ctx, p.Capabilities().SubmitTime())
	defer cancel()
	sub, err := p.Submit(ctx, req)
	if err != nil {
		return nil, err
	}
	if sub.Result == nil || sub.Result.Object == nil {
		return nil, fmt.Errorf("provider: %s did not answer a form at once", p.Name())
	}
	return sub.Result.Object, nil
}

// ParseObject returns the JSON object of a model's answer, without a code fence or text around it. It returns a
// Transient error with the code text_unreadable if there is none.
func ParseObject(raw string) (json.RawMessage, error) {
	object, err := findObject(raw)
	if err == nil && !json.Valid([]byte(object)) {
		err = errors.New("the answer is no valid JSON")
	}
	if err != nil {
		return nil, unreadable(&Unreadable{Clip(raw, maxUnreadable), err})
	}
	return json.RawMessage(object), nil
}

func unreadable(cause error) error {
	return &Error{Kind: Transient, Code: "text_unreadable", Message: "The model's text could not be read.",
		Cause: cause}
}
