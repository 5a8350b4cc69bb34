// Command upload brings in a logo, makes a post that shows it, and publishes the post: upload LOGO.png.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	contentautomation "github.com/content-automation/api/clients/go"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client, err := contentautomation.New()
	if err != nil {
		return err
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		return err
	}
	defer file.Close()
	logo, err := client.Media.Upload(ctx, file, contentautomation.OwnMediaCreateMimeTypeImagePng)
	if err != nil {
		return err
	}
	factory, err := client.Factories.Create(ctx, contentautomation.BrandFactoryCreate{Name: "Acme",
		Settings: contentautomation.BrandSettingsInput{BrandName: "Acme", Logo: &logo.ID}})
	if err != nil {
		return err
	}
	account, err := client.SocialAccounts.Connect(ctx, contentautomation.SocialAccountConnect{
		Platform: contentautomation.Ptr(contentautomation.PlatformTelegram),
		BotToken: contentautomation.Ptr(os.Getenv("BOT_TOKEN")), Channel: contentautomation.Ptr("@acme_news")})
	if err != nil {
		return err
	}
	item, err := client.Content.Create(ctx, contentautomation.ContentItemCreate{FactoryID: factory.ID,
		Kind: contentautomation.ContentKindPost, Prompt: contentautomation.Ptr("Our new shoe")})
	if err != nil {
		return err
	}
	if _, err := client.Content.WaitFor(ctx, item.ID); err != nil {
		return err
	}
	accounts := &contentautomation.ContentItemPublish{SocialAccountIDs: []string{account.ID}}
	if _, err := client.Content.Publish(ctx, item.ID, accounts); err != nil {
		return err
	}
	if _, err := client.Content.WaitFor(ctx, item.ID, contentautomation.Until(contentautomation.ContentStatePublished)); err != nil {
		return err
	}
	for publication, err := range client.Content.ListPublications(ctx, item.ID, nil) {
		if err != nil {
			return err
		}
		fmt.Println(publication.Platform, contentautomation.Value(publication.URL))
	}
	return nil
}
