// Package crm is the interface to customer-relationship systems (CRMs): their products, the stages of their deals, and
// the notes of deals. Each subpackage is the adapter of one CRM, and registry lists them. The adapters use the client
// and the errors of the social platforms.
//
// A webhook of a CRM is only a hint that an object has changed. Callers read the object before they act. Start with
// Adapter.
package crm

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
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
	Changed               time.Time
	// Entered is when it came into its stage. It is zero if the CRM does not tell it.
	Entered time.Time
}
