package experiment

import (
	"context"
	"fmt"
	"net/http"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
)

// Row is an arm of a post of an experiment, with the figure of the post.
type Row struct {
	// Number of the item in the experiment, from 1. An item has a row for each factor that applies to it.
	Number int `json:"number" minimum:"1"`
	// Id of the content item.
	ContentItemID string `json:"content_item_id"`
	// Kind of content. Ranks are among posts of the same kind.
	Kind item.Kind `json:"kind" enum:"post,video,carousel,story,music_clip"`
	// Name of the factor.
	Factor string `json:"factor" example:"hook"`
	// The arm.
	Arm string `json:"arm" example:"question"`
	// Probability with which the item was given this arm.
	Propensity float64 `json:"propensity" minimum:"0" maximum:"1" example:"0.5"`
	// The metric of its post, divided by the impressions where the platform counts them. Null: it is not known.
	Value *float64 `json:"value"`
	// Whether the figure is known. pending: it is not due yet, or late. completed: it is known. failed: there is none,
	// and it does not count.
	State string `json:"state" enum:"pending,completed,failed"`
	// Time at which the figure was due.
	DueAt resource.Time `json:"due_at"`

	arm int // its number among the arms of the item
}

type rowsInput struct {
	Path
	httpapi.SliceInput
}

// registerRows adds the list of the posts of an experiment to the router.
func (s *Service) registerRows(r *httpapi.Router) {
	httpapi.List(r, httpapi.Op{ID: "listExperimentPosts", Method: http.MethodGet,
		Path: "/v1/experiments/{experiment_id}/posts", Scope: auth.FactoriesRead, Function: "factory", Tag: "Analytics",
		Sheet: "experiment-posts.csv", Summary: "List the posts of an experiment",
		Description: "Lists the raw rows from which the results follow, in the order in which items were given their " +
			"arms: each item with each of its arms, the probability of the arm, and the figure of its post. With the " +
			"header `Accept: text/csv`, the answer is a file of comma-separated values with all rows.",
		Errors: []errs.Code{errs.InvalidCursor, errs.NotFound}, Opens: httpapi.Nothing}, s.rows)
}

func (s *Service) rows(ctx context.Context, in *rowsInput) (page httpapi.Page[Row], err error) {
	r, it, err := s.find(ctx, in.ID)
	if err != nil {
		return page, err
	}
	all := []Row{}
	if r.StartedAt != nil {
		found, err := outcomes(ctx, s.db, it.Owner, r, s.now())
		if err != nil {
			return page, err
		}
		for _, o := range found {
			all = append(all, rowsOf(o)...)
		}
	}
	return httpapi.Slice(ctx, all, map[string]string{"experiment": in.ID}, in.SliceInput,
		func(r Row) string { return fmt.Sprintf("%09d-%03d", r.Number, r.arm) })
}

// rowsOf returns the rows of an item, one for each of its arms.
func rowsOf(o Outcome) (all []Row) {
	for i, a := range o.Trial.Arms {
		row := Row{Number: o.Trial.Number, ContentItemID: o.Item, Kind: o.Kind, Factor: a.Factor, Arm: a.Arm,
			Propensity: a.Propensity, State: "failed", DueAt: resource.Instant(o.At), arm: i}
		switch {
		case o.Known:
			row.Value, row.State = &o.Value, "completed"
		case o.Open:
			row.State = "pending"
		}
		all = append(all, row)
	}
	return all
}
