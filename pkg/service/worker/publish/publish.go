// Package publish connects the function that takes the steps of background work at the social platforms: publications,
// their metrics and comments, and the tokens of accounts.
package publish

import (
	"maps"
	"time"

	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/engagement/comment"
	"github.com/content-automation/api/pkg/area/social/account"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// Config has the dependencies of the function.
type Config struct {
	DB        *store.DB
	Vault     account.Vault
	Platforms account.Adapters
	Files     publication.Files
	Now       func() time.Time
	// Budgets replace the default budgets of platforms; see publication.Worker.
	Budgets map[string]int
}

// Handlers returns the handlers of the function.
func Handlers(c Config) worker.Handlers {
	accounts := &account.Worker{
		DB: c.DB, Now: c.Now, Vault: c.Vault, Platforms: c.Platforms,
		Cleaners: []account.Cleaner{publication.AccountCleaner{DB: c.DB, Now: c.Now}},
	}
	publications := &publication.Worker{DB: c.DB, Platforms: c.Platforms, Vault: c.Vault, Files: c.Files, Now: c.Now,
		Budgets: c.Budgets}
	handlers := publications.Handlers()
	maps.Copy(handlers, accounts.Handlers())
	comments := &comment.Worker{DB: c.DB, Platforms: c.Platforms, Vault: c.Vault, Now: c.Now,
		Budgets: publications}
	maps.Copy(handlers, comments.Handlers())
	return handlers
}
