// Command journey takes a post of a client of an agency through its life in the sandbox. SVC_API_KEY has a test key.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	sdk "github.com/content-automation/api/clients/go"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// run makes a key for the client of the agency, and works with it.
func run(ctx context.Context) error {
	agency, err := sdk.New()
	if err != nil {
		return err
	}
	profile, err := agency.Profiles.Create(ctx, sdk.ProfileCreate{Name: "Acme"})
	if err != nil {
		return err
	}
	key, err := agency.APIKeys.Create(ctx, sdk.APIKeyCreate{Kind: sdk.ModeTest, Name: "Acme",
		ProfileIDs: []string{profile.ID}, Scopes: []sdk.ScopeInput{sdk.ScopeAccountRead, sdk.ScopeContentPublish,
			sdk.ScopeContentRead, sdk.ScopeContentWrite, sdk.ScopeFactoriesRead, sdk.ScopeFactoriesWrite,
			sdk.ScopeSocialManage, sdk.ScopeWebhooksManage}})
	if err != nil {
		return err
	}
	client, err := sdk.New(sdk.WithAPIKey(sdk.Value(key.Secret)))
	if err != nil {
		return err
	}
	if err := work(ctx, agency, client, profile.ID); err != nil {
		return err
	}
	_, revoked := agency.APIKeys.Revoke(ctx, key.ID, nil)
	_, deleted := agency.Profiles.Delete(ctx, profile.ID)
	return errors.Join(revoked, deleted)
}

// work makes, revises, approves and publishes a post, and prints what came of it.
func work(ctx context.Context, agency, client *sdk.Client, profile string) error {
	factory, err := client.Factories.Create(ctx, sdk.BrandFactoryCreate{Name: "Acme",
		Settings: sdk.BrandSettingsInput{BrandName: "Acme"}, Approval: sdk.Ptr(sdk.FactoryApprovalRequired)})
	if err != nil {
		return err
	}
	order := sdk.ContentItemCreate{FactoryID: factory.ID, Kind: sdk.ContentKindPost,
		Prompt: sdk.Ptr("Our new trail running shoe")}
	estimate, err := client.Account.Estimate(ctx, sdk.CreateContentItemEstimate{Body: order})
	if err != nil {
		return err
	}
	events, webhook, err := receive(ctx, client, profile)
	if err != nil {
		return err
	}
	item, err := publish(ctx, client, order, profile)
	if err != nil {
		return err
	}
	var event *sdk.Event
	select {
	case event = <-events:
	case <-time.After(10 * time.Second):
		return errors.New("no event came")
	}
	day := sdk.SandboxAdvanceCreate{Seconds: 86_400} // a day later there are figures
	if _, err := agency.Sandbox.Advance(ctx, day); err != nil {
		return err
	}
	publications, err := sdk.Collect(client.Content.ListPublications(ctx, item.ID, nil), 10)
	if err != nil {
		return err
	}
	items, err := sdk.Collect(client.Content.List(ctx, &sdk.ListContentItemsParams{FactoryID: &factory.ID}), 10)
	if err != nil {
		return err
	}
	likes := sdk.Value(publications[0].Metrics).Likes
	fmt.Println(estimate.Credits, sdk.Value(likes), sdk.Value(items[0].Caption), event.Type)

	_, unhooked := client.Webhooks.Delete(ctx, webhook)
	_, deleted := client.Content.Delete(ctx, item.ID)
	_, closed := client.Factories.Delete(ctx, factory.ID)
	_, left := client.SocialAccounts.Disconnect(ctx, publications[0].SocialAccountID, nil)
	return errors.Join(unhooked, deleted, closed, left)
}

// receive makes a webhook, whose receiver verifies each request.
func receive(ctx context.Context, client *sdk.Client, profile string) (<-chan *sdk.Event, string, error) {
	var receiver *sdk.Receiver
	events := make(chan *sdk.Event, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<20))
		if err == nil {
			var event *sdk.Event
			if event, err = receiver.Event(req.Header, body); err == nil {
				events <- event
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	}))
	webhook, err := client.Webhooks.Create(ctx, sdk.WebhookCreate{URL: sdk.Ptr(server.URL + "/hooks"),
		ProfileID: &profile, EventTypes: []sdk.EventPatternInput{sdk.EventPatternContentPublished}})
	if err != nil {
		return nil, "", err
	}
	receiver, err = sdk.NewReceiver(sdk.Value(webhook.Secret))
	return events, webhook.ID, err
}

// publish makes a post, revises and approves it, and waits until it is published.
func publish(ctx context.Context, client *sdk.Client, order sdk.ContentItemCreate, profile string,
) (*sdk.ContentItem, error) {
	queued, err := client.Content.Create(ctx, order)
	if err != nil {
		return nil, err
	}
	generated, err := client.Content.WaitFor(ctx, queued.ID)
	if err != nil {
		return nil, err
	}
	revised, err := client.Content.Update(ctx, generated.ID, sdk.ContentItemUpdate{Caption: sdk.Set("Light as air.")},
		sdk.WithIfMatch(generated.Version))
	if err != nil {
		return nil, err
	}
	if _, err := client.Approvals.Approve(ctx, revised.ID, &sdk.ContentApprove{Note: sdk.Ptr("Good.")}); err != nil {
		return nil, err
	}
	account, err := client.SocialAccounts.Connect(ctx, sdk.SocialAccountConnect{Platform: sdk.Ptr(sdk.PlatformBluesky),
		Username: sdk.Ptr("acme.bsky.social"), Password: sdk.Ptr(os.Getenv("APP_PASSWORD")), ProfileID: &profile})
	if err != nil {
		return nil, err
	}
	soon := revised.UpdatedAt.Add(90 * time.Second).Format(time.RFC3339)
	if _, err := client.Content.Schedule(ctx, revised.ID, &sdk.ContentItemSchedule{PublishAt: sdk.Set(soon),
		SocialAccountIDs: []string{account.ID}}); err != nil {
		return nil, err
	}
	return client.Content.WaitFor(ctx, revised.ID, sdk.Until(sdk.ContentStatePublished))
}
