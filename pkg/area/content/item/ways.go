package item

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/format"
	"github.com/content-automation/api/pkg/record/shelf"
)

// Way is a way in which a product is not what an item shows.
type Way string

// The ways.
const (
	PriceChanged Way = "price"
	OfferChanged Way = "offer"
	PhotoChanged Way = "photo"
	SoldOut      Way = "sold_out"
	Removed      Way = "removed"
)

var _ = format.Define("outdated", format.Format{Values: format.Words("price offer photo sold_out removed")})

// Ways are several.
type Ways []Way

// MarshalJSON writes no ways as an empty list.
func (w Ways) MarshalJSON() ([]byte, error) {
	return json.Marshal(append([]Way{}, w...))
}

// Without returns those that are not among others.
func (w Ways) Without(others Ways) Ways {
	return slices.DeleteFunc(slices.Clone(w), func(one Way) bool { return slices.Contains(others, one) })
}

// Gone reports whether the product cannot be shown: it is sold out, or the shop has it no more.
func (w Ways) Gone() bool { return slices.Contains(w, SoldOut) || slices.Contains(w, Removed) }

// Priced reports whether nothing but the price has changed.
func (w Ways) Priced() bool { return len(w.Without(Ways{PriceChanged, OfferChanged})) == 0 }

// Policy returns the strictest policy that a feed has for some of the ways, or an empty text if there is none.
func (w Ways) Policy(of shelf.Policies) (p shelf.Policy) {
	for _, one := range w {
		switch one {
		case SoldOut:
			p = shelf.Stricter(p, of.SoldOut)
		case Removed:
			p = shelf.Stricter(p, of.Removed)
		default:
			p = shelf.Stricter(p, of.PriceChange)
		}
	}
	return p
}

// Words says in words what has changed.
func (w Ways) Words() string {
	words := map[Way]string{PriceChanged: "its price has changed", OfferChanged: "its offer has changed",
		PhotoChanged: "its main photo has changed", SoldOut: "it is sold out", Removed: "the shop has it no more"}
	all := make([]string, len(w))
	for i, one := range w {
		all[i] = words[one]
	}
	return strings.Join(all, ", ")
}
