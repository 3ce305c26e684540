package provider

import "context"

// Changed is what a notice of the guest does.
func (p *Provider) Changed(uri string) { p.broker.Publish(context.Background(), uri) }
