CREATE TABLE "contact_timeline" (
	"id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"contact_phone" text NOT NULL,
	"franchise_id" text NOT NULL,
	"account_id" text NOT NULL,
	"store_id" uuid NOT NULL,
	"event_type" text NOT NULL,
	"event_category" text NOT NULL,
	"entity_type" text NOT NULL,
	"entity_id" text NOT NULL,
	"occurred_at" timestamp (3) with time zone NOT NULL,
	"actor_type" text NOT NULL,
	"new_value" jsonb,
	"idempotency_key" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "contacts" (
	"phone" text NOT NULL,
	"franchise_id" text NOT NULL,
	"account_id" text NOT NULL,
	"store_id" uuid NOT NULL,
	"lifecycle_stage" text NOT NULL,
	"lead_status" text NOT NULL,
	"first_name" text,
	"last_name" text,
	"last_activity_at" timestamp (3) with time zone,
	"lead_status_reason" text,
	"customer_summary" text,
	"purchase_intent" text,
	"goals" jsonb,
	"first_attempted_at" timestamp (3) with time zone,
	"first_connected_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "contacts_phone_store_id_pk" PRIMARY KEY("phone","store_id")
);
--> statement-breakpoint
CREATE TABLE "lead_mails" (
	"mail_key" text PRIMARY KEY NOT NULL,
	"mailbox" text NOT NULL,
	"uid_validity" bigint NOT NULL,
	"uid" bigint NOT NULL,
	"outcome" text NOT NULL,
	"reason" text,
	"lead_id" text,
	"parsed" jsonb NOT NULL,
	"repeat" boolean DEFAULT false NOT NULL,
	"mirrored" boolean DEFAULT false NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"recorded_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"published_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "leads" (
	"id" text PRIMARY KEY NOT NULL,
	"lead_email" text NOT NULL,
	"lead_type" text DEFAULT 'Unknown' NOT NULL,
	"first_name" text,
	"last_name" text,
	"phone" text,
	"booked_date" date,
	"booked_time" text,
	"booked_mail_at" timestamp (3) with time zone,
	"email_subject" text,
	"email_from" text,
	"email_recipient" text,
	"extracted_tracking_id" text,
	"franchise_id" text,
	"account_id" text,
	"store_id" uuid,
	"raw_body" text NOT NULL,
	"raw_body_truncated" boolean DEFAULT false NOT NULL,
	"is_forwarded" boolean DEFAULT false NOT NULL,
	"forwarded_original_from" text,
	"forwarded_original_to" text,
	"forwarded_original_date" text,
	"processed_by" text DEFAULT 'imap-poller' NOT NULL,
	"received_at" timestamp (3) with time zone NOT NULL,
	"last_mail_at" timestamp (3) with time zone NOT NULL,
	"parse_status" text NOT NULL,
	"synced_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tasks" (
	"task_id" uuid PRIMARY KEY NOT NULL,
	"contact_phone" text NOT NULL,
	"franchise_id" text NOT NULL,
	"account_id" text NOT NULL,
	"store_id" uuid NOT NULL,
	"task_type" text NOT NULL,
	"type_category" text NOT NULL,
	"source_type" text NOT NULL,
	"source_lead_id" text,
	"status" text NOT NULL,
	"priority" text NOT NULL,
	"action_needed" boolean NOT NULL,
	"action_needed_reason" text,
	"suggested_actions" jsonb NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "uq_contact_timeline_idempotency_key" ON "contact_timeline" USING btree ("idempotency_key");--> statement-breakpoint
CREATE INDEX "ix_contact_timeline_contact" ON "contact_timeline" USING btree ("contact_phone","store_id","occurred_at");--> statement-breakpoint
CREATE INDEX "ix_lead_mails_lead" ON "lead_mails" USING btree ("lead_id");--> statement-breakpoint
CREATE INDEX "ix_lead_mails_position" ON "lead_mails" USING btree ("mailbox","uid_validity","uid");--> statement-breakpoint
CREATE INDEX "ix_lead_mails_unpublished" ON "lead_mails" USING btree ("recorded_at") WHERE "lead_mails"."published_at" is null and "lead_mails"."outcome" = 'lead' and not "lead_mails"."mirrored";--> statement-breakpoint
CREATE INDEX "ix_lead_mails_published" ON "lead_mails" USING btree ("published_at");--> statement-breakpoint
CREATE INDEX "ix_leads_store_received" ON "leads" USING btree ("store_id","received_at");--> statement-breakpoint
CREATE INDEX "ix_leads_phone" ON "leads" USING btree ("phone");--> statement-breakpoint
CREATE INDEX "ix_leads_email" ON "leads" USING btree ("lead_email");--> statement-breakpoint
CREATE UNIQUE INDEX "uq_tasks_source_lead" ON "tasks" USING btree ("source_lead_id");--> statement-breakpoint
CREATE UNIQUE INDEX "uq_tasks_pending_contact_category" ON "tasks" USING btree ("contact_phone","franchise_id","account_id","store_id","type_category") WHERE "tasks"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "ix_tasks_store_due" ON "tasks" USING btree ("store_id","due_at");