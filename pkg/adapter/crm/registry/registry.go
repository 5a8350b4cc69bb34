// Package registry lists the CRMs, and makes their adapters. The rows are in registry.go.
package registry

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/crm"
	"github.com/content-automation/api/pkg/adapter/crm/amocrm"
	"github.com/content-automation/api/pkg/adapter/crm/bitrix24"
	"github.com/content-automation/api/pkg/adapter/crm/hubspot"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Row is a CRM. The rows determine the enumerations of the API and the applications of the operator.
type Row struct {
	Name string
	New  func(wire.Config) crm.Adapter
}

var rows = []Row{row(amocrm.Name, amocrm.New), row(bitrix24.Name, bitrix24.New), row(hubspot.Name, hubspot.New)}

func row[A crm.Adapter](name string, make func(wire.Config) A) Row {
	return Row{name, func(c wire.Config) crm.Adapter { return make(c) }}
}

// Rows returns the CRMs, in the order in which they are listed.
func Rows() []Row { return rows }

// Names returns the ids of the CRMs.
func Names() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.Name
	}
	return names
}

// Live returns the adapter of a CRM, and reports whether there is one.
func Live(name string, c wire.Config) (crm.Adapter, bool) {
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return rows[i].New(c), true
}

// Sandbox returns the adapter that stands for a CRM with test keys, and reports whether there is one.
func Sandbox(name string, now func() time.Time) (crm.Adapter, bool) {
	live, ok := Live(name, wire.Config{})
	if !ok {
		return nil, false
	}
	return crm.NewSandbox(name, live.Facts(), now), true
}
