"""What a person sees beside the view: panels and menus, and their sentences in lines."""
