package crm

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// apply checks settings and takes them over. It reports whether the factory or the mapping has changed; then the
// caller is the one on whose behalf content is made.
func (s *Service) apply(ctx context.Context, o tenant.Owner, r *Record, set settings) (changed bool,
	err error) {
	moved := !reflect.DeepEqual(r.FactoryID, set.FactoryID)
	before := r.Mapping
	if before.Stages == nil {
		before.Stages = []Stage{}
	}
	if set.Mapping.Stages == nil {
		set.Mapping.Stages = []Stage{}
	}
	changed = moved || !reflect.DeepEqual(before, set.Mapping)
	r.Metadata = set.Metadata.OrEmpty()
	if !changed {
		return false, nil
	}
	p := auth.FromContext(ctx)
	if err := s.checkFactory(ctx, o, r, set, moved); err != nil {
		return false, err
	}
	if err := checkMapping(p, r.Pipelines, set.Mapping); err != nil {
		return false, err
	}
	if moved || !set.Mapping.Products.Import {
		r.Imported = false
	}
	r.FactoryID, r.Mapping = set.FactoryID, set.Mapping
	answers(r, p)
	return true, nil
}

// answers makes a caller the one on whose behalf the integration acts.
func answers(r *Record, p *auth.Principal) {
	r.Authority = authority.Of(p, auth.AccountManage, auth.ProductsWrite, auth.ContentWrite, auth.ContentPublish)
	r.CreatedBy = p.Actor.ID
}

// checkFactory refuses a factory that does not fit the mapping.
func (s *Service) checkFactory(ctx context.Context, o tenant.Owner, r *Record, set settings,
	moved bool) error {
	needed := set.Mapping.Products.Import || len(set.Mapping.Stages) > 0
	if set.FactoryID == nil {
		if needed {
			return errs.Invalid("/factory_id", "is missing: the mapping needs a factory")
		}
		return nil
	}
	if moved && r.FactoryID != nil {
		if r.Counts.Products > 0 {
			return errs.Invalid("/factory_id", "cannot change after products were imported into %s. Connect another "+
				"integration", *r.FactoryID)
		}
	}
	it, err := resource.Find(ctx, s.db, id.Factory, factoryrecord.Kind, *set.FactoryID)
	if err != nil || !factoryrecord.Usable(it, it.Owner) {
		return factoryrecord.RefError(err, *set.FactoryID)
	}
	if it.Owner != o {
		return errs.Invalid("/factory_id", "is of another profile than the integration")
	}
	if set.Mapping.Products.Import {
		if err := factoryrecord.CheckSeller(it, "products"); err != nil {
			return err
		}
	}
	return checkKinds(it, set.Mapping)
}

// checkKinds refuses kinds of content that the factory does not make.
func checkKinds(it store.Item, m Mapping) error {
	var f struct {
		Types []string `json:"content_types"`
	}
	if err := it.Decode(&f); err != nil {
		return err
	}
	var found []error
	check := func(param, kind string) {
		if !factoryrecord.Makes(f.Types, kind, "") {
			found = append(found, errs.Invalid(param, "is not among the content_types of the factory, which are %s",
				strings.Join(f.Types, ", ")))
		}
	}
	if m.Products.News() {
		check("/mapping/products/kind", *m.Products.Kind)
	}
	for i, stage := range m.Stages {
		check(fmt.Sprintf("/mapping/stages/%d/kind", i), stage.Kind)
	}
	return errs.All(found...)
}

// checkMapping refuses stages that the CRM does not have, and what the caller may not do itself.
func checkMapping(p *auth.Principal, pipelines []crm.Pipeline, m Mapping) error {
	var found []error
	if m.Products.Import {
		if err := p.Require(auth.ProductsWrite, "/mapping/products/import"); err != nil {
			return err
		}
	}
	switch kind, template := m.Products.Kind, m.Products.Template; {
	case (kind == nil) != (template == nil):
		found = append(found, errs.Invalid("/mapping/products", "must have both kind and template, or neither"))
	case kind != nil && !m.Products.Import:
		found = append(found, errs.Invalid("/mapping/products/import", "must be true, as content is made of products "+
			"that are imported"))
	case kind != nil:
		if err := p.Require(auth.ContentWrite, "/mapping/products/kind"); err != nil {
			return err
		}
		found = append(found, blank("/mapping/products/template", *template))
	}
	seen := map[[2]string]bool{}
	for i, stage := range m.Stages {
		at := fmt.Sprintf("/mapping/stages/%d", i)
		if err := p.Require(auth.ContentWrite, "/mapping/stages"); err != nil {
			return err
		}
		found = append(found, blank(at+"/template", stage.Template.Template))
		if name := [2]string{stage.Pipeline, stage.Stage}; seen[name] {
			found = append(found, errs.Invalid(at+"/stage", "is in the mapping already"))
		} else {
			seen[name] = true
		}
		if len(pipelines) == 0 {
			continue // they are not read yet
		}
		n := slices.IndexFunc(pipelines, func(p crm.Pipeline) bool { return p.ID == stage.Pipeline })
		switch {
		case n < 0:
			found = append(found, errs.Invalid(at+"/pipeline", "is not the id of a pipeline of the CRM. pipelines has "+
				"them; synchronize the integration if it is new"))
		case !slices.ContainsFunc(pipelines[n].Stages, func(s crm.Stage) bool { return s.ID == stage.Stage }):
			found = append(found, errs.Invalid(at+"/stage", "is not the id of a stage of the pipeline. pipelines has "+
				"them; synchronize the integration if it is new"))
		}
	}
	return errs.All(found...)
}

func blank(param, text string) error {
	if resource.IsBlank(text) {
		return errs.Invalid(param, "is blank")
	}
	return nil
}
