package crm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// ErrForged means that a webhook does not come from the account of the CRM.
var ErrForged = errors.New("crm: the webhook is not the CRM's")

// Gone reports whether an error means that the CRM has no such object any more.
func Gone(err error) bool { return platform.CodeOf(err) == platform.CodePostNotFound }

// NotFound returns the error of an object that was deleted.
func NotFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "The CRM does not have the object any more.")
}

// Refused classifies the answers by status that all CRMs share. It returns nil for those that the client classifies.
func Refused(a wire.Answer) *platform.Error {
	switch a.Status {
	case http.StatusNotFound, http.StatusGone:
		return NotFound()
	case http.StatusPaymentRequired:
		return platform.Later(platform.CodePlatformUnavailable, "The account of the CRM is not paid.").After(time.Hour)
	case http.StatusForbidden:
		return platform.Reject(platform.CodeMissingPermission, "The CRM does not permit this to the connected user.")
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return platform.Reject(platform.CodeContentRefused, "The CRM refuses the request.")
	}
	return nil
}

// timeout bounds a call. It is shorter than the lease of a step.
const timeout = 10 * time.Second

// JSON makes a call, classifies its answer and decodes it into out, unless out is nil. An answer without a body, which
// stands for an empty list, leaves out unchanged.
func JSON(ctx context.Context, c *wire.Client, call wire.Call, refused wire.Refused, out any) error {
	call.Timeout, call.Void = timeout, true
	return c.JSON(ctx, call, refused, out)
}

// Issued returns the token of an answer of the token endpoint. The token of before keeps what the answer lacks.
func Issued(c *wire.Client, call wire.Call, answer wire.Issued, before platform.Token) (platform.Token, error) {
	if answer.Access == "" {
		return platform.Token{}, c.Garbled(call, errors.New("there is no access token"))
	}
	return answer.As(c.Now(), before), nil
}

// Number is a number or a text of JSON as text. CRMs change between both.
type Number string

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var text string
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
	} else {
		var number json.Number
		if err := json.Unmarshal(b, &number); err != nil {
			return err
		}
		text = number.String()
	}
	*n = Number(text)
	return nil
}
