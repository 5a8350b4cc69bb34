// Package crm is the interface to customer-relationship systems (CRMs): their products, the stages of their deals, and
// the notes of deals. Each subpackage is the adapter of one CRM, and registry lists them. The adapters use the client
// and the errors of the social platforms.
//
// A webhook of a CRM is only a hint that an object has changed. Callers read the object before they act. Start with
// Adapter.
package crm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/html"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Adapter is one CRM. Its methods are safe for concurrent use and never sleep. They return errors of type
// *platform.Error for every answer of the CRM: Retry, Expired, Reconnect, BadContent, and from AddNote also Unknown.
type Adapter interface {
	// Name returns the id of the CRM, such as hubspot.
	Name() string
	// Facts returns the facts about the CRM that callers need.
	Facts() Facts

	Connector
	Objects
}

// Connector connects accounts of a CRM.
type Connector interface {
	// Authorization returns the address that an administrator of the CRM opens in a browser to grant access.
	Authorization(ctx context.Context, a Authorization) (string, error)
	// Connect returns the account that a grant gives access to, with its token. The error is Reconnect if the CRM
	// refuses the grant, or Retry.
	Connect(ctx context.Context, g Grant) (Account, error)
	// Refresh returns a token with a later end. The refresh token may be valid once: the caller stores the new token
	// before it uses it, and never refreshes an account twice at the same time. The error is Reconnect if the CRM
	// refuses the refresh token, or Retry.
	Refresh(ctx context.Context, a Account) (platform.Token, error)
	// Revoke ends the access, if the CRM can do so. Access that has ended is no error.
	Revoke(ctx context.Context, a Account) error
	// Subscribe has the CRM send webhooks to an address, if the CRM can do so. It may be repeated.
	Subscribe(ctx context.Context, a Account, address string) error
	// Unsubscribe ends the webhooks. It may be repeated.
	Unsubscribe(ctx context.Context, a Account, address string) error
	// Hints verifies a webhook and returns the objects that it names. It returns ErrForged for a webhook that does not
	// come from the CRM's account. It makes no calls.
	Hints(ctx context.Context, a Account, h Hook) ([]Hint, error)
}

// Objects reads the objects of an account, and writes notes.
type Objects interface {
	// Pipelines returns the pipelines of deals with their stages.
	Pipelines(ctx context.Context, a Account) ([]Pipeline, error)
	// Products returns a page of the products. The cursor is empty for the first page, and the last page has no Next.
	Products(ctx context.Context, a Account, cursor string) (Page[Product], error)
	// Product returns a product. Gone reports whether the error is that it was deleted.
	Product(ctx context.Context, a Account, productID string) (Product, error)
	// Existing returns those of at most 50 products that the CRM still has.
	Existing(ctx context.Context, a Account, productIDs []string) ([]string, error)
	// Deals returns a page of the deals that were changed since a time.
	Deals(ctx context.Context, a Account, since time.Time, cursor string) (Page[Deal], error)
	// Deal returns a deal. Gone reports whether the error is that it was deleted.
	Deal(ctx context.Context, a Account, dealID string) (Deal, error)
	// HasNote reports whether a note of a deal contains a text.
	HasNote(ctx context.Context, a Account, dealID, text string) (bool, error)
	// AddNote adds a note to a deal. The error is Unknown if the answer was lost: the note may exist.
	AddNote(ctx context.Context, a Account, dealID, text string) error
}

// Facts are the facts about a CRM that callers need.
type Facts struct {
	// Label is the name of the CRM in its own spelling.
	Label string
	// Portal reports whether an authorization needs the address of the customer's portal.
	Portal bool
	// Site reports whether an authorization may name the portal, because the CRM has several sites.
	Site bool
	// Address reports whether an account is connected by the address of an incoming webhook, too.
	Address bool
	// Shared reports whether the CRM sends the webhooks of all accounts to one address of the operator's application,
	// which ends with the name of the CRM.
	Shared bool
}

// Account is a connected account of a CRM. It holds secrets, and is sealed before it is stored.
type Account struct {
	ID       string `json:"id"` // the CRM's
	Name     string `json:"name,omitempty"`
	Domain   string `json:"domain,omitempty"`   // host of its API
	Currency string `json:"currency,omitempty"` // of amounts without one
	Catalog  string `json:"catalog,omitempty"`  // id of its list of products, where it has several lists
	// Address is the address of an incoming webhook, which is its own secret.
	Address platform.Secret `json:"address,omitempty"`
	// Redirect is the callback's address, which some CRMs want repeated.
	Redirect string `json:"redirect,omitempty"`
	// Proof is the token that webhooks of the CRM carry, if it is known.
	Proof platform.Secret `json:"proof,omitempty"`
	Token platform.Token  `json:"token"`
}

// Authorization is a request for access by OAuth 2.
type Authorization struct {
	Portal      string // host of the customer's portal, if the CRM needs it
	RedirectURL string
	State       string
}

// Grant has the credentials that connect an account: a code of OAuth 2 with the other parameters of the callback, or
// the address of an incoming webhook.
type Grant struct {
	Code        string
	RedirectURL string
	Query       url.Values
	Address     platform.Secret
	Proof       platform.Secret
}

// Hook is a webhook as it was received.
type Hook struct {
	URL    string // as the CRM has called it
	Header http.Header
	Body   []byte
	At     time.Time
}

// Object is a kind of object.
type Object string

// The kinds of objects.
const (
	ProductObject Object = "product"
	DealObject    Object = "deal"
)

// Hint names an object that may have changed. Account is the CRM's id of the account, if the hook names it.
type Hint struct {
	Object  Object
	ID      string
	Account string
}

// Page is a page of a list.
type Page[T any] struct {
	Items []T
	Next  string // the cursor of the next page, or empty
}

// Pipeline is a pipeline of deals.
type Pipeline struct {
	// Id in the CRM.
	ID string `json:"id" example:"4021"`
	// Name in the CRM.
	Name string `json:"name" example:"Sales"`
	// Its stages, in order.
	Stages []Stage `json:"stages" nullable:"false"`
}

// Stage is a stage of a pipeline.
type Stage struct {
	// Id in the CRM.
	ID string `json:"id" example:"142"`
	// Name in the CRM.
	Name string `json:"name" example:"Won"`
}

// Product is a product of a CRM. Its texts are data of others.
type Product struct {
	ID, SKU, Name, Description, URL string
	// Price is a decimal number, and Currency its code of ISO 4217.
	Price, Currency string
	Archived        bool
}

// Deal is a deal of a CRM. Its texts are data of others.
type Deal struct {
	ID, Name, Description string
	Pipeline, Stage       string
	Amount, Currency      string
	ChangedAt             time.Time
	// EnteredAt is when it came into its stage. It is zero if the CRM does not tell it.
	EnteredAt time.Time
}

// ErrForged means that a webhook does not come from the account of the CRM.
var ErrForged = errors.New("crm: the webhook is not the CRM's")

// Gone reports whether an error means that the CRM has no such object any more.
func Gone(err error) bool { return platform.CodeOf(err) == platform.CodePostNotFound }

// NotFound returns the error of an object that was deleted.
func NotFound() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, "The CRM does not have the object any more.")
}

// Classify classifies the answers by status that all CRMs share. It returns nil for those that the client classifies.
func Classify(a wire.Answer) *platform.Error {
	switch a.Status {
	case http.StatusNotFound, http.StatusGone:
		return NotFound()
	case http.StatusPaymentRequired:
		return platform.Later(platform.CodePlatformUnavailable, "The account of the CRM is not "+
			"paid.").WithWait(time.Hour)
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
func JSON(ctx context.Context, c *wire.Client, call wire.Call, refused wire.Classifier, out any) error {
	call.Timeout, call.Void = timeout, true
	return c.JSON(ctx, call, refused, out)
}

// TokenOf returns the token of an answer of the token endpoint. Fields that the answer lacks
// keep their old values.
func TokenOf(c *wire.Client, call wire.Call, answer wire.TokenAnswer, before platform.Token) (platform.Token, error) {
	if answer.Access == "" {
		return platform.Token{}, c.GarbledError(call, errors.New("there is no access token"))
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

// markup finds what editors of CRMs write into descriptions: the start or end of a known element, or a character by its
// name or number. Other texts, such as "5 < 6" and "M&S", have none.
var markup = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)</?(?:p|br|div|span|b|i|u|s|a|h[1-6]|ul|ol|li|strong|em|table|tbody|thead|tr|td|` +
		`th|img|font|hr|blockquote|pre|code|small|sub|sup|section|article|script|style)\b[^<>]*>|&#?[a-z0-9]{2,31};`)
})

// blocks are the elements that begin and end a line.
var blocks = map[string]bool{"p": true, "br": true, "div": true, "h1": true, "h2": true, "h3": true, "h4": true,
	"h5": true, "h6": true, "ul": true, "ol": true, "li": true, "table": true, "tr": true, "hr": true,
	"blockquote": true, "pre": true, "section": true, "article": true}

// Plain returns a description as plain text if it is in HTML: its elements become lines, and the names of characters
// become characters. Scripts and styles are left out.
func Plain(description string) string {
	if !markup().MatchString(description) {
		return description
	}
	var out strings.Builder
	var hidden string // the element whose text is not shown
	tokens := html.NewTokenizer(strings.NewReader(description))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return lines(out.String())
		case html.TextToken:
			if hidden == "" {
				out.WriteString(string(tokens.Text()))
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			raw, _ := tokens.TagName()
			name := string(raw)
			switch {
			case kind == html.StartTagToken && (name == "script" || name == "style"):
				hidden = name
			case kind == html.EndTagToken && name == hidden:
				hidden = ""
			case blocks[name]:
				out.WriteByte('\n')
			case name == "td" || name == "th":
				out.WriteByte(' ')
			}
			if name == "li" && kind == html.StartTagToken {
				out.WriteString("- ")
			}
		}
	}
}

// lines returns the lines of a text that are not empty, with single spaces.
func lines(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line != "-" {
			all = append(all, line)
		}
	}
	return strings.Join(all, "\n")
}
