// Package feed reads the feeds of shops: lists of products as Google, Yandex Market and Shopify define them, and tables
// and JSON lines. Read passes one Row after another on, and never holds a whole feed.
package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/money"
)

// Format is the format of a feed.
type Format string

// The formats.
const (
	GoogleXML  Format = "google_xml"
	GoogleTSV  Format = "google_tsv"
	YML        Format = "yml"
	ShopifyCSV Format = "shopify_csv"
	CSV        Format = "csv"
	JSONLines  Format = "json_lines"
)

// Stock says whether a product can be bought.
type Stock string

// The kinds of stock, as Google's product data specification names them.
const (
	InStock    Stock = "in_stock"
	OutOfStock Stock = "out_of_stock"
	Preorder   Stock = "preorder"
	Backorder  Stock = "backorder"
)

// Row is a product as a feed has it.
type Row struct {
	// Number is the number of its row or element, from 1. The titles of a table are row 1.
	Number      int               `json:"-"`
	ID          string            `json:"id"`
	Group       string            `json:"group,omitempty"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	URL         string            `json:"url,omitempty"`
	Price       money.Price       `json:"price"`
	Sale        *Sale             `json:"sale,omitempty"`
	Stock       Stock             `json:"stock"`
	Photos      []string          `json:"photos,omitempty"`
	Attributes  map[string]string `json:"attributes,omitempty"`
}

// Sale is a reduced price. Zero times are open.
type Sale struct {
	Price money.Price `json:"price"`
	From  time.Time   `json:"from,omitzero"`
	Until time.Time   `json:"until,omitzero"`
}

// Refusal is why a row, or what the member of a row says, is not taken.
type Refusal struct {
	// Number of the row or element in the feed.
	Row int `json:"row" example:"17"`
	// Member or column at fault.
	Member string `json:"member" example:"price"`
	// What is wrong, and what to do about it.
	Reason string `json:"reason"`
}

// Options say how to read a feed.
type Options struct {
	Format Format
	// Mapping names the column of each member of a table of the format CSV. A member that it does not name is in the
	// column with its name.
	Mapping map[string]string
	// Currency is that of prices without one.
	Currency string
	// Zone is that of times without one. Nil: UTC.
	Zone *time.Location
	// Charset is the encoding that the server names. The bytes win if they say otherwise.
	Charset string
}

// Taker takes a row, or why it is refused. ID is that of a refused row if it has one: the product is still there.
type Taker func(r Row, refused *Refusal) error

// FaultError is the error of a feed that cannot be read, with its reason for the caller.
type FaultError struct{ Message string }

// Error returns the reason.
func (f *FaultError) Error() string { return f.Message }

func fault(format string, args ...any) error { return &FaultError{fmt.Sprintf(format, args...)} }

// MaxBytes is the largest size of a feed, uncompressed too, and MaxRows its most rows.
const (
	MaxBytes = 200 << 20
	MaxRows  = 500_000
)

// most bounds a feed: 200 MB, and 100 elements for each row.
var most = budget.Budget{Name: "feed of products", Bytes: MaxBytes, Elements: 50_000_000, Depth: 20, Part: mostSkipped,
	Time: 10 * time.Minute}

// The bounds of the attributes of a product: pairs, and characters of their names and values.
const (
	MaxAttributes     = 20
	MaxAttributeName  = 40
	MaxAttributeValue = 500
)

// maxRecord bounds a row: an element, a line. One that is larger is refused, and mostSkipped bounds what is read of it.
const (
	maxRecord   = 256 << 10
	mostSkipped = 4 << 20
)

// Read reads a feed. It returns a *FaultError for one that cannot be read, and the error of take.
func Read(ctx context.Context, file io.ReadSeeker, o Options, take Taker) error {
	plain, err := unpacked(file)
	if err != nil {
		return err
	}
	text, err := decoded(plain, o)
	if err != nil {
		return err
	}
	m, end := most.Begin(ctx)
	defer end()
	p := &parser{Options: o, meter: m, take: take, seen: map[[8]byte]int32{}}
	body := m.Reader(text)
	switch o.Format {
	case GoogleXML:
		err = p.google(m.Tokens(withoutDeclaration(text)))
	case YML:
		err = p.yml(m.Tokens(withoutDeclaration(text)))
	case GoogleTSV, CSV:
		err = p.table(body)
	case ShopifyCSV:
		err = p.shopify(body)
	case JSONLines:
		err = p.lines(body)
	default:
		err = fault("The format %s is not known.", o.Format)
	}
	switch {
	case errors.Is(err, budget.ErrExceeded):
		_, what, _ := strings.Cut(err.Error(), most.Name+": ")
		return fault("The feed has %s. A feed has up to %d MB, and an element up to %d MB.", what, MaxBytes>>20,
			mostSkipped>>20)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault("The feed ends in the middle of an element or a row.")
	case err == nil && p.rows == 0:
		return fault("The feed has no products of the format %s.", o.Format)
	}
	return err
}

// parser reads one feed.
type parser struct {
	Options
	meter *budget.Meter
	take  Taker
	// seen has the numbers of the rows by the hashes of their ids.
	seen map[[8]byte]int32
	rows int
	// woo reports that a table has the columns of an export of WooCommerce.
	woo bool
}
