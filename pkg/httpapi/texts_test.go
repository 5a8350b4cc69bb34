package httpapi

import (
	"reflect"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

type Price struct {
	Amount int `json:"amount"`
	Price  int `json:"price"` // it has the name of its type, so that Go hides it
}

type body struct {
	Price
	Amount string `json:"amount"`
	Page   string `query:"page"`
}

const own = "pkg/httpapi."

func TestMembersGetTheTextOfTheirField(t *testing.T) {
	texts := NewTexts(map[string]string{own + "Price.Amount": "hidden", own + "Price.Price": "the price",
		own + "body.Amount": "the amount", own + "body.Page": "the page", own + "other.Name": "of no type"})
	r := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	s := r.Schema(reflect.TypeFor[body](), false, "")
	texts.Registered(r, "#/")
	if a, p := s.Properties["amount"].Description, s.Properties["price"].Description; a != "the amount" ||
		p != "the price" {
		t.Errorf("the descriptions are %q and %q", a, p)
	}
	params := []*huma.Param{{Name: "page", In: "query"}, {Name: "page", In: "header", Description: "kept"}}
	texts.Parameters(params, reflect.TypeFor[body]())
	if params[0].Description != "the page" || params[1].Description != "kept" {
		t.Errorf("the parameters are %q and %q", params[0].Description, params[1].Description)
	}
	if lines := texts.Lines(); strings.Contains(lines, "of no type") || !strings.Contains(lines, "\tthe page\n") {
		t.Errorf("the table has %q", lines)
	}
}

func TestATypeMayDescribeItself(t *testing.T) {
	s := &huma.Schema{Properties: map[string]*huma.Schema{"amount": {Description: "by its type"}}}
	NewTexts(map[string]string{own + "Price.Amount": "of the field"}).Members(s, reflect.TypeFor[*Price]())
	if got := s.Properties["amount"].Description; got != "by its type" {
		t.Errorf("the description is %q", got)
	}
}

func TestReachFollowsTheTypesOfFields(t *testing.T) {
	type node struct {
		Next  *node
		Costs map[string][]Price
	}
	texts := NewTexts(map[string]string{own + "Price.Amount": "an amount"})
	texts.Reach(reflect.TypeFor[[]node]())
	if texts.Lines() != own+"Price.Amount\tan amount\n" {
		t.Errorf("the table has %q", texts.Lines())
	}
}
